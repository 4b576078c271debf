import type { Timers } from '../ports.js';

/** Settles as the call does, but rejects after `ms`: whether it was executed is unknown then. */
export async function withDeadline<T>(call: () => Promise<T>, ms: number, timers: Timers): Promise<T> {
  let expire!: (error: Error) => void;
  const deadline = new Promise<never>((_, reject) => (expire = reject));
  const timer = timers.setTimer(() => expire(new Error(`no answer within ${ms} ms`)), ms, 'background');
  try {
    return await Promise.race([call(), deadline]);
  } finally {
    timer.cancel();
  }
}
