import {
  fence,
  fingerprintOf,
  LARGER,
  NO_STATE,
  onServer,
  OURS,
  REACH_MS,
  served,
  starting,
} from '../../../../test/support/engine/fence-bench.js';
import type { WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';
import { MemoryWorkerStore } from './memory-worker-store.js';

/** Long enough for an ID of ours to come to those of the larger layout. */
const LONG_MS = 700_000;

const TWO = { ...OURS, serviceMaxWorkId: 2 };

const alone = (database: WorkerDatabase, layout = OURS): { readonly servedAlone: string } => ({
  servedAlone: fingerprintOf(database, layout),
});

describe.each(['', 'server 1'])(
  'a fence that states rightly that one layout alone has served, on server %p',
  (term) => {
    it.each([
      ['is noted', false],
      ['is in its row alone: the dump lacked the layouts', true],
    ])('repeats no ID of a layout that the backup shows: it %s', async (_, isForgotten) => {
      const database = onServer(term);
      const canary = await served(1, { database, layout: LARGER }, 60_000);
      if (isForgotten) database.table.layouts.clear();
      await fence(database, {}, alone(database));
      const next = starting(2, { database, layout: OURS });
      await live(LONG_MS, next);
      expect(next.issued.length).toBeGreaterThan(100);
      expect(repeats(canary, next)).toBe(0);
    });
  },
);

describe('a fence that states that one layout alone has served', () => {
  it('counts no more after a fence that names another one', async () => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    const first = database.snapshot();
    await fence(database, {}, { ...alone(database), issuedUntilMs: database.time.wall + LONG_MS });
    const second = database.snapshot();
    // The earlier backup is restored in its place, and another layout serves.
    database.restore(first);
    await fence(database);
    const lost = starting(2, { database, layout: LARGER });
    await live(REACH_MS + 60_000, lost);
    expect(lost.issued.length).toBeGreaterThan(100);
    lost.kill();
    // The later one is restored, and fenced with the options of each release.
    database.restore(second);
    database.table.layouts.add(fingerprintOf(database, LARGER));
    await fence(database);
    const next = starting(3, { database, layout: OURS });
    await live(2 * LONG_MS, next);
    expect(repeats(lost, next)).toBe(0);
  });

  it('forgets no earlier fence: a layout that it named may have left no trace', async () => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    const backup = database.snapshot();
    const lost = await served(2, { database, layout: LARGER }, 60_000);
    database.restore(backup);
    database.table.layouts.add(fingerprintOf(database, LARGER));
    await fence(database);
    // A backup of this moment is restored.
    await database.advance(1_000);
    await fence(database, {}, alone(database));
    const next = starting(3, { database, layout: OURS });
    await live(2 * LONG_MS, next);
    expect(next.issued.length).toBeGreaterThan(100);
    expect(repeats(lost, next)).toBe(0);
  });

  it.each([
    ['comes after one that states up to when IDs were issued', false],
    ['states up to when IDs were issued, too', true],
  ])('leaves what its rows say where it %s, and the state is lost', async (_, isOne) => {
    const database = onServer('server 1');
    const layout = { ...OURS, serviceMinWorkId: 2, serviceMaxWorkId: 2 };
    const store = new MemoryWorkerStore(database.table, () => database.time.wall, REACH_MS);
    await store.prepare({ min: 1, max: 2 });
    const backup = database.snapshot();
    // Host and database are ahead together.
    database.time.step(400_000);
    const ahead = await served(1, { database, layout }, 20_000);
    const issuedUntilMs = database.time.wall;
    database.time.step(-400_000);
    database.restore(backup);
    await fence(database, {}, { issuedUntilMs, ...(isOne && alone(database)) });
    // A dump of the worker table alone is restored, and a start adds its state.
    database.table.state = NO_STATE;
    await fence(database, {}, isOne ? {} : alone(database));
    const next = starting(2, { database, layout });
    await live(LONG_MS, next);
    expect(next.issued.length).toBeGreaterThan(100);
    expect(repeats(ahead, next)).toBe(0);
  });

  it.each(['second', 'minute'] as const)('does not shut it out after a start that issued nothing: %s', async (unit) => {
    const database = onServer('server 1');
    const layout = { ...OURS, timeUnit: unit, timeStampLength: 33 };
    await served(1, { database, layout }, 5_000);
    // Its IDs are those of ours nine days later. It served long ago.
    const startTimeStamp = OURS.startTimeStamp - 9 * 86_400_000;
    database.table.layouts.add(fingerprintOf(database, { ...layout, startTimeStamp }));
    await fence(database, {}, { servedAlone: fingerprintOf(database, layout) });
    const first = starting(2, { database, layout });
    await first.advance(REACH_MS + 70_000);
    expect(first.keeper.status().state).toBe('held');
    await first.keeper.close();
    const next = starting(3, { database, layout });
    await live(70_000, next);
    expect(next.issued.length).toBeGreaterThan(0);
  });

  it('does not shut it out where the original wrote all rows last', async () => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    const startTimeStamp = OURS.startTimeStamp - 9 * 86_400_000;
    database.table.layouts.add(fingerprintOf(database, { ...OURS, startTimeStamp }));
    database.writeAsForeigner(1);
    await fence(database, {}, alone(database));
    const next = starting(2, { database, layout: OURS, lease: { adoptForeign: true } });
    await live(REACH_MS + 70_000, next);
    expect(next.issued.length).toBeGreaterThan(0);
  });

  it('forgets no failover that was recorded by clocks that were ahead, where it states up to when IDs were issued', async () => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    database.time.step(400_000);
    const replica = database.snapshot();
    const lost = starting(2, { database, layout: LARGER });
    await live(60_000, lost);
    expect(lost.issued.length).toBeGreaterThan(100);
    // The failover loses its row. It notes its layout and the failover, and ends.
    database.restore(replica);
    database.table.term = 'server 2';
    await live(30_000, lost);
    await lost.keeper.close();
    const issuedUntilMs = database.time.wall;
    database.time.step(-400_000);
    await expect(fence(database, {}, alone(database))).rejects.toMatchObject({ errorCode: 'CLOCK_BEHIND' });
    await fence(database, {}, { issuedUntilMs, ...alone(database) });
    await database.advance(LONG_MS);
    const next = starting(3, { database, layout: OURS });
    await live(2 * LONG_MS, next);
    expect(next.issued.length).toBeGreaterThan(100);
    expect(repeats(lost, next)).toBe(0);
  });

  it.each([
    ['the original wrote', (database: WorkerDatabase) => Promise.resolve(database.writeAsForeigner(2))],
    [
      'a start gave back unused',
      async (database: WorkerDatabase) => {
        const broken = starting(2, { database, layout: { ...TWO, serviceMinWorkId: 2 } });
        broken.store.next('readAgain', { kind: 'refused' });
        await broken.advance(50);
        broken.kill();
        expect(database.row(2)).toMatchObject({ layout: '', code: 'a code', token: '' });
      },
    ],
  ])('does not shut it out because of a row of no layout, which %s', async (_, use) => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    await new MemoryWorkerStore(database.table, () => database.time.wall, REACH_MS).prepare({ min: 1, max: 2 });
    await use(database);
    const startTimeStamp = OURS.startTimeStamp - 9 * 86_400_000;
    database.table.layouts.add(fingerprintOf(database, { ...OURS, startTimeStamp }));
    await fence(database, {}, alone(database, TWO));
    const next = starting(3, { database, layout: TWO, lease: { adoptForeign: true } });
    await live(REACH_MS + 70_000, next);
    expect(next.issued.length).toBeGreaterThan(0);
  });
});

it('a fence is refused where a row has a grant of a clock that was ahead, also one that the original has taken', async () => {
  const database = onServer('server 1');
  database.time.step(1_000_000);
  await served(1, { database, layout: OURS }, 20_000);
  database.time.step(-1_000_000);
  database.writeAsForeigner(1, 'a code');
  await expect(fence(database)).rejects.toMatchObject({ errorCode: 'CLOCK_BEHIND' });
});
