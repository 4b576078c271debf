/** The {@link DemoConfig}, for those that are injected. */
export const DEMO_CONFIG = Symbol('DEMO_CONFIG');
