import { ConfigurationError } from '@raindrop/core';
import { OPTIONS, useDatabase } from '../../support/module/module-fixture.js';
import { databaseKinds } from '../../support/servers/test-databases.js';
import { expectSince } from '../../support/expect-since.js';
import { DatabaseCallError } from '../../../libs/node/src/database/database-errors.js';
import { openIdService } from '../../../libs/node/src/service/open-id-service.js';
import { readWorkers } from '../../../libs/node/src/workers/read-workers.js';

describe.each(databaseKinds)('readWorkers on %s', (kind) => {
  const database = useDatabase(kind, 'test');

  it('shows who holds which worker id, and that it was given back', async () => {
    const options = { ...OPTIONS, serviceMinWorkId: 1, serviceMaxWorkId: 3, dbConfig: database.options };
    await expect(readWorkers(options)).rejects.toThrow(DatabaseCallError);

    const ids = await openIdService(options);
    const { workerId } = ids;
    const before = Date.now();
    const { nowMs, workers } = await readWorkers(options);
    expectSince(before, nowMs);
    expect(workers.map((each) => each.workerId)).toEqual([1, 2, 3]);
    const mine = workers.find((each) => each.workerId === workerId)!;
    expect(mine).toMatchObject({ state: 'held', layout: ids.layout.fingerprint, lane: 0 });
    expect(mine.leaseLeftMs).toBeGreaterThan(0);
    expect(mine.graceLeftMs).toBeGreaterThan(mine.leaseLeftMs!);
    expect(mine.odometers[0].time!.getTime()).toBeGreaterThan(nowMs);
    expect(workers.filter(({ state }) => state === 'free')).toHaveLength(2);

    await ids.close();
    const after = await readWorkers(options);
    expect(after.workers.map(({ state }) => state)).not.toContain('held');
    expect(after.workers.find((each) => each.workerId === workerId)!.holder).toBe(mine.holder);
  });
});

describe('readWorkers', () => {
  it('refuses assigners that keep no rows', async () => {
    const options = { ...OPTIONS, workerIdAssigner: 'machine' as const };
    await expect(readWorkers(options)).rejects.toThrow(ConfigurationError);
  });
});
