import { IdService, RaindropModule } from '@raindrop/nestjs';
import { openSharedIds, sharedIdRing } from '@raindrop/node/threads';
import { repeatedAmong } from '../../support/processes/repeated.js';
import { startApp, typeorm } from '../../support/module/module-fixture.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { isAscending, takeWithThreads } from './real-ring.js';

const QUIET = { logger: { warn: () => {} } };

/** One row, so that every application gets the one before it has left. */
const OPTIONS = {
  timeUnit: 'millisecond',
  startTimeStamp: '2026-01-01',
  timeStampLength: 41,
  workIdLength: 8,
  serviceMaxWorkId: 1,
  endBitsLength: 1,
} as const;

it('Applications that take turns at one worker row, with threads and rings that are never empty, repeat no ID', async () => {
  const database = await testDatabase('sqlite');
  const all: BigInt64Array[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const app = await startApp([typeorm(database.options), RaindropModule.forRoot(OPTIONS)], []);
    const service = app.get(IdService);
    expect(service.workerId).toBe(1);
    const ring = sharedIdRing(service, QUIET);
    const ids = openSharedIds(ring.handle, QUIET);
    const direct = service.fill(new BigInt64Array(1_000));
    const taken = await takeWithThreads(ring, 2, 50_000);
    expect(taken.every(isAscending)).toBe(true);
    const closing = app.close();
    // What has been issued may be taken until the ring hears of it, and belongs to the past of the row.
    const late: bigint[] = [];
    while (ids.refusal() === undefined) {
      late.push(ids.nextId());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closing;
    expect(ids.refusal()).toMatchObject({ errorCode: 'RING_CLOSED' });
    expect(ring.status().state).toBe('closed');
    all.push(direct, ...taken, BigInt64Array.from(late));
  }
  expect(repeatedAmong(all)).toHaveLength(0);
  await database.drop();
});
