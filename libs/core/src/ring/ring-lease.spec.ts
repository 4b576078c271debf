import type { LeaseEvent } from '../lease/worker-keeper.js';
import { LeaseSuspectError } from '../lease/lease-errors.js';
import { KeeperBench } from '../../../../test/support/engine/keeper-bench.js';
import { ManualChanges } from '../../../../test/support/engine/ring-bench.js';
import type { RingPorts } from './ring-options.js';
import { SharedIdRing } from './shared-id-ring.js';
import { SharedIds } from './shared-ids.js';

function portsOf({ time }: KeeperBench): RingPorts {
  const { clock, monotonic, timers } = time;
  return { clock, monotonic, timers, changes: new ManualChanges(), warn: () => {} };
}

/** A process with a leased worker and a ring, told of the lease's events or not. */
async function process(options: { database?: KeeperBench['database']; isTold?: boolean } = {}): Promise<{
  bench: KeeperBench;
  ring: SharedIdRing;
  taker: SharedIds;
}> {
  const onEvent = (event: LeaseEvent): void => {
    if (event.type !== 'lease-suspect' || options.isTold === false) return;
    ring.discard(new LeaseSuspectError(event.workerId, event.reason));
  };
  const { database } = options;
  const layout = { serviceMaxWorkId: 1 };
  const bench = await KeeperBench.started({ layout, ...(database === undefined ? {} : { database }), onEvent });
  const ring: SharedIdRing = new SharedIdRing(bench.generator, { boostPower: 0 }, portsOf(bench));
  return { bench, ring, taker: new SharedIds(ring.handle, undefined, portsOf(bench)) };
}

/** Everything a ring still gives. */
function drain(taker: SharedIds): bigint[] {
  const ids: bigint[] = [];
  while (taker.refusal() === undefined) ids.push(taker.nextId());
  return ids;
}

const shared = (some: readonly bigint[], others: readonly bigint[]): number => {
  const known = new Set(others);
  return some.filter((id) => known.has(id)).length;
};

describe('A worker that is given back while its ring is full', () => {
  it('leaves an odometer behind all of it: the next holder of the row repeats no ID, though threads take on', async () => {
    const first = await process();
    const before = drain(first.taker).slice(0, 100);
    await first.bench.time.advance(1_000);
    await first.bench.keeper.close();
    const next = await process({ database: first.bench.database });
    expect(next.bench.workerId).toBe(1);
    // The ring has not heard of it yet.
    const meanwhile = drain(first.taker);
    expect(meanwhile).toHaveLength(8_192);
    expect(shared(drain(next.taker), [...before, ...meanwhile])).toBe(0);
    await first.bench.time.advance(1_000);
    expect(first.taker.refusal()).toMatchObject({ errorCode: 'RING_CLOSED' });
  });
});

describe('A process that was copied with its ring', () => {
  /** The copy finds out and confirms its lease, all before its ring's next beat. The original gives all it had. */
  async function afterCopy(isTold: boolean, restore: (bench: KeeperBench) => void): Promise<number> {
    const { bench, ring, taker } = await process({ isTold });
    taker.nextIds(100);
    const original = new SharedArrayBuffer(ring.handle.buffer.byteLength);
    new Uint8Array(original).set(new Uint8Array(ring.handle.buffer));
    const theirs = drain(new SharedIds({ ...ring.handle, buffer: original }, undefined, portsOf(bench)));
    expect(theirs.length).toBeGreaterThan(8_000);
    restore(bench);
    await bench.time.advance(1);
    bench.generator.refusal();
    await bench.time.advance(100);
    expect(bench.generator.refusal()).toBeUndefined();
    const ours = drain(taker);
    expect(ours.length).toBeGreaterThan(1_000);
    return shared(ours, theirs);
  }

  it.each([
    ['sees it by itself', (bench: KeeperBench): void => void bench.processId++],
    ['is told of it', (bench: KeeperBench): void => bench.keeper.afterRestore()],
  ])('and %s gives nothing of what it was copied with', async (_, restore) => {
    expect(await afterCopy(true, restore)).toBe(0);
    // The negative control: a ring that is not told of the suspicion, which is over before it looks.
    expect(await afterCopy(false, restore)).toBeGreaterThan(8_000);
  });
});
