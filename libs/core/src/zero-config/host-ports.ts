import type { GeneratorPorts } from '../generator/generator-ports.js';
import type { Timers } from '../time/timers.js';
import { hostScope, type HostScope } from './host-scope.js';

/** Clocks, timers and randomness of wherever this runs. The wall clock is read at every call. */
export function hostPorts(scope: HostScope = hostScope()): GeneratorPorts & { readonly timers: Timers } {
  return {
    clock: { now: () => Date.now(), refresh: () => Date.now() },
    monotonic: { now: () => scope.performance.now() },
    randomness: {
      fraction: () => Math.random(),
      token: () => Array.from(randomWords(scope, 4), (word) => word.toString(36)).join('-'),
    },
    timers: {
      setTimer(callback, delayMs, kind) {
        const timer = scope.setTimeout(callback, delayMs);
        // In Node.js a timer is an object, and keeps the process alive unless it is told not to.
        if (kind === 'background') (timer as { unref?(): void }).unref?.();
        return { cancel: () => scope.clearTimeout(timer) };
      },
    },
  };
}

/** Unpredictable 32-bit numbers. */
export function randomWords(scope: HostScope, count: number): Uint32Array {
  return scope.crypto.getRandomValues(new Uint32Array(count));
}
