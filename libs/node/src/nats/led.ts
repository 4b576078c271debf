import { nameOf } from './nats-connection.js';

/** Nobody got what was sent. */
const NOBODY = ['JetStreamNotEnabled', 'NoResponders'];
const AGAIN_MS = 50;

/**
 * Asks until somebody leads the bucket: one that was just made, or that has lost its leader, has nobody for a moment.
 * @throws Error when it takes longer
 */
export async function led<T>(withinMs: number, step: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!NOBODY.includes(nameOf(error))) throw error;
      if (performance.now() > giveUpAt) throw new Error('JetStream is off, or nobody leads the bucket');
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
