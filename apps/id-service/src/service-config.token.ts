/** The {@link ServiceConfig}, for those that are injected. */
export const SERVICE_CONFIG = Symbol('SERVICE_CONFIG');
