import { machineProcessWorkerId, machineText, type NetworkInterfaces } from '../worker-id/machine-process-id.js';
import { type GeneratorPorts, type Timers, wallClock } from '../ports.js';

/**
 * Worker ids take 5 bits of process + 13 * thread. 13 is odd, so the first 32 threads of a process differ; the first
 * few threads of processes with neighbouring ids differ as well.
 */
const THREAD_STRIDE = 13;

interface Os {
  hostname(): string;
  networkInterfaces(): NetworkInterfaces;
}

/**
 * A worker id of the machine, the process and the thread that this runs in: see {@link machineProcessWorkerId}. The
 * part of a machine or a process that cannot be told from others is random; in a browser both parts are.
 */
export function hostWorkerId(scope: HostScope, workerBits: number): number {
  const random = randomWords(scope, 2);
  return machineProcessWorkerId({
    interfaces: machineOf(scope) ?? String(random[0]),
    processId: processOf(scope) ?? random[1]!,
    workerBits,
  });
}

function machineOf({ process }: HostScope): string | undefined {
  try {
    const os = process?.getBuiltinModule?.('node:os') as Os | undefined;
    const interfaces = os?.networkInterfaces() ?? {};
    const leadsOutside = Object.values(interfaces).some((each) => each?.some(({ internal }) => !internal));
    // The host name alone tells nothing: it may be `localhost`.
    return os !== undefined && leadsOutside ? machineText(os.hostname(), interfaces) : undefined;
  } catch {
    // Not permitted, as in some sandboxes.
    return undefined;
  }
}

/** Undefined for process 1: the first process of every container has this number. */
function processOf({ process }: HostScope): number | undefined {
  const pid = process?.pid;
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const threads = process?.getBuiltinModule?.('node:worker_threads') as { readonly threadId: number } | undefined;
  return pid + THREAD_STRIDE * (threads?.threadId ?? 0);
}

/**
 * The parts of the global scope that are used, by their shape: core has the types of no host. Node.js, browsers, Deno
 * and Bun have all of them, but browsers have no `process`.
 */
export interface HostScope {
  readonly performance: { now(): number };
  readonly crypto: { getRandomValues(target: Uint32Array): Uint32Array };
  readonly process?: HostProcess | undefined;
  readonly setTimeout: (callback: () => void, delayMs: number) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
}

interface HostProcess {
  readonly pid?: number;
  /** Since Node.js 20.16. */
  getBuiltinModule?(name: string): unknown;
}

/** The scope this code runs in. */
export function hostScope(): HostScope {
  return globalThis as unknown as HostScope;
}

const { performance, setTimeout, clearTimeout } = hostScope();

/** The functions of the moment when this module was loaded, like the wall clock's. */
const LOADED = { performance: { now: performance?.now.bind(performance) }, setTimeout, clearTimeout };

/** Clocks, timers and randomness of wherever this runs. The wall clock is read at every call. */
export function hostPorts(scope: HostScope = hostScope()): GeneratorPorts & { readonly timers: Timers } {
  const { performance, setTimeout, clearTimeout } = scope === hostScope() ? LOADED : scope;
  return {
    clock: { now: () => wallClock.now(), refresh: () => wallClock.now() },
    monotonic: { now: () => performance.now() },
    randomness: {
      fraction: () => Math.random(),
      token: () => Array.from(randomWords(scope, 4), (word) => word.toString(36)).join('-'),
    },
    timers: {
      setTimer(callback, delayMs, kind) {
        const timer = setTimeout(callback, delayMs);
        // In Node.js a timer is an object, and keeps the process alive unless it is told not to.
        if (kind === 'background') (timer as { unref?(): void }).unref?.();
        return { cancel: () => clearTimeout(timer) };
      },
    },
  };
}

/** Unpredictable 32-bit numbers. */
function randomWords(scope: HostScope, count: number): Uint32Array {
  return scope.crypto.getRandomValues(new Uint32Array(count));
}
