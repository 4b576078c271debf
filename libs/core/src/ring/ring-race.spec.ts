import { Freshness, RingMemory } from './ring-memory.js';
import { RingCursor } from './ring-cursor.js';
import { LateCursor, RingBench } from '../../../../test/support/engine/ring-bench.js';

/** A thread that is put to sleep around the moment in which it moves the head, while others go on. */
class SleepyMemory extends RingMemory {
  before: () => void = () => {};
  after: () => void = () => {};

  override moveHead(from: number, to: number): boolean {
    const { before, after } = this;
    this.before = this.after = (): void => {};
    before();
    const isMoved = super.moveHead(from, to);
    after();
    return isMoved;
  }
}

/**
 * One taker falls asleep; another empties the ring, the producer fills it anew, over the slots that the first one is
 * about to take, and the other takes those as well. Then the first one wakes up.
 * @returns every ID that the two got
 */
function overtaken(Cursor: typeof RingCursor, asleep: 'before' | 'after', rounds: number): bigint[] {
  const bench = new RingBench({ ring: { boostPower: 0 } });
  const { handle } = bench.ring;
  const memory = new SleepyMemory(handle.buffer);
  const slow = new Cursor(memory, handle, new Freshness(bench.generator.layout, handle.maxAgeMs), bench.ports());
  const fast = bench.taker();
  const taken: bigint[] = [];
  memory[asleep] = (): void => {
    for (let round = 0; round < rounds; round++) {
      taken.push(...fast.nextIds(bench.ring.status().left));
      // Refilled by the same thread, with what the next tick has.
      bench.time.freeze(1);
      bench.ring['work']();
    }
  };
  for (let count = 0; count < 3 * handle.run && slow.refusal() === undefined; count++) taken.push(slow.take());
  while (fast.refusal() === undefined) taken.push(...fast.nextIds(1));
  return taken;
}

const repeated = (ids: readonly bigint[]): number => ids.length - new Set(ids).size;

describe('A taker that is overtaken', () => {
  it.each([1, 2, 3, 7])('by %d whole rounds repeats no ID, wherever it was interrupted', (rounds) => {
    for (const asleep of ['before', 'after'] as const) {
      const ids = overtaken(RingCursor, asleep, rounds);
      expect(ids.length).toBeGreaterThan(rounds * 8_000);
      expect(repeated(ids)).toBe(0);
    }
  });

  it.each([1, 2, 3])(
    'and reads after it has moved the head, repeats IDs: the negative control, %d rounds',
    (rounds) => {
      expect(repeated(overtaken(LateCursor, 'after', rounds))).toBe(32);
    },
  );
});
