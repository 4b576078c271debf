import type { GeneratorPorts } from '../generator/generator-ports.js';
import type { Timers } from '../time/timers.js';
import { wallClock } from '../time/wall-clock.js';
import { hostScope, type HostScope } from './host-scope.js';

const { performance, setTimeout, clearTimeout } = hostScope();

/** Of when this was loaded, as the wall clock is. */
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
export function randomWords(scope: HostScope, count: number): Uint32Array {
  return scope.crypto.getRandomValues(new Uint32Array(count));
}
