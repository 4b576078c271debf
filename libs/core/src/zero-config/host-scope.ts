/**
 * What is used of the global scope, by its shape: core has the types of no host. Node.js, browsers, Deno and Bun have
 * it all but for `process`, which browsers lack.
 */
export interface HostScope {
  readonly performance: { now(): number };
  readonly crypto: { getRandomValues(target: Uint32Array): Uint32Array };
  readonly process?: HostProcess | undefined;
  readonly setTimeout: (callback: () => void, delayMs: number) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
}

export interface HostProcess {
  readonly pid?: number;
  /** Since Node.js 20.16. */
  getBuiltinModule?(name: string): unknown;
}

/** The scope this code runs in. */
export function hostScope(): HostScope {
  return globalThis as unknown as HostScope;
}
