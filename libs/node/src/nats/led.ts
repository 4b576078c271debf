import { nameOf } from './nats-connection.js';
import { hostTimers } from '../system/host-timers.js';
import { monotonicClock } from '../system/system-clock.js';

/** Nobody got what was sent. */
const NOBODY = ['JetStreamNotEnabled', 'NoResponders'];
const AGAIN_MS = 50;

/**
 * Asks until somebody leads the bucket: one that was just made, or that has lost its leader, has nobody for a moment.
 * @throws Error when it takes longer
 */
export async function led<T>(withinMs: number, step: () => Promise<T>): Promise<T> {
  const giveUpAt = monotonicClock.now() + withinMs;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!NOBODY.includes(nameOf(error))) throw error;
      if (monotonicClock.now() > giveUpAt) throw new Error('JetStream is off, or nobody leads the bucket');
    }
    await hostTimers.sleep(AGAIN_MS);
  }
}
