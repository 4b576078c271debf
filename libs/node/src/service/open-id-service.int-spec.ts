import { ClosedError, ConfigurationError, parseShardedId, type WorkerIdAssigner } from '@raindrop/core';
import { OPTIONS } from '../../../../test/support/module/module-fixture.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { NoLayoutError, NoShardedIdsError } from '../ports/id-engine.js';
import type { IdService } from './id-service.js';
import { openIdService } from './open-id-service.js';
import { NoOpenServiceError, openedService } from './opened-services.js';
import { readWorkers } from '../workers/read-workers.js';

overBothPorts(() => {
  describe.each(kindsInTurn(__filename))('a service without a framework, on %s', (kind) => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await testDatabase(kind);
    });
    afterEach(() => database.drop());

    it('issues at once, and has given its worker id back when it is closed', async () => {
      const options = { ...OPTIONS, dbConfig: sqlDatabase(database.options), serviceMaxWorkId: 2 };
      const [one, other] = await Promise.all([openIdService(options), openIdService({ ...options, name: 'orders' })]);
      expect([one.name, other.name, other.status().service]).toEqual(['default', 'orders', 'orders']);
      const issued = [one, other, one, other].map((ids) => ids.nextId());
      expect(new Set(issued).size).toBe(4);
      expect(one.parse(issued[0]!).workerId).toBe(one.workerId);
      await Promise.all([one.close(), other.close()]);
      await one.close();
      expect(() => one.nextId()).toThrow(ClosedError);
      const { workers } = await readWorkers(options);
      expect(workers.map(({ state }) => state)).not.toContain('held');
    });

    it('issues numbers from segments', async () => {
      const dbConfig = sqlDatabase(database.options);
      const ids = await openIdService({
        idMode: 'numberSection',
        dbConfig,
        defaultCode: 'order',
        sharded: { apps: [{ id: 7, name: 'shop', description: '' }] },
        logger: OPTIONS.logger!,
      });
      expect([ids.nextId(), ids.nextId()]).toEqual([1n, 2n]);
      expect(parseShardedId(await ids.nextShardedAsync({ app: 7, gatePass: 'ada' }))).toMatchObject({
        app: 7,
        index: 1n,
      });
      expect(ids.status().codes).toMatchObject([{ code: 'order' }]);
      // @ts-expect-error its type says that numbers have no layout
      expect(() => ids.layout as unknown).toThrow(NoLayoutError);
      await ids.close();
    });

    it('issues no sharded IDs but with numbers from segments, as its type says', async () => {
      const ids = await openIdService({ ...OPTIONS, dbConfig: sqlDatabase(database.options) });
      // @ts-expect-error nor does it know apps
      await expect(ids.registerApp(7, 'shop')).rejects.toThrow(NoShardedIdsError);
      // @ts-expect-error nor their IDs
      expect(() => ids.nextSharded({ app: 7, gatePass: 'ada' })).toThrow(NoShardedIdsError);
      await ids.close();
    });
  });
});

describe('openIdService()', () => {
  it('names every option that is wrong, its own among them', async () => {
    const opening = openIdService({ ...OPTIONS, name: '', leaseMs: -1, dataSource: 'orders' } as never);
    const error = await opening.catch((reason: unknown) => reason as ConfigurationError);
    expect(error).toBeInstanceOf(ConfigurationError);
    const options = (error as ConfigurationError).problems.map(({ option }) => option);
    expect(options.sort()).toEqual(['dataSource', 'leaseMs', 'name']);
  });

  it('is found by its name until it is closed, unless another one has it too', async () => {
    const open = (name: string): Promise<IdService> =>
      openIdService({ ...OPTIONS, name, workerIdAssigner: 'static', workerId: 3, restartWaitMs: false });
    expect(() => openedService('found')).toThrow(NoOpenServiceError);
    const first = await open('found');
    expect(openedService('found')).toBe(first);
    const second = await open('found');
    expect(() => openedService('found')).toThrow("2 services named 'found' are open in this process. Select one");
    await first.close();
    expect(openedService('found')).toBe(second);
    await second.close();
    expect(() => openedService('found')).toThrow(
      "No service named 'found' is open in this process. Await openIdService()",
    );
  });

  it('says which databases there are when it is given none', async () => {
    await expect(openIdService(OPTIONS)).rejects.toThrow(/postgres:\/\/app@localhost\/app or sqlite:data\/ids.sqlite/);
  });

  it('makes an assigner of yours with new', async () => {
    class Seventh implements WorkerIdAssigner {
      readonly name = 'seventh';
      readonly guarantee = 'declared';

      acquire(): Promise<{ workerId: number }> {
        return Promise.resolve({ workerId: 7 });
      }
    }
    const ids = await openIdService({ ...OPTIONS, workerIdAssigner: Seventh, restartWaitMs: false });
    expect(ids.workerId).toBe(7);
    await ids.close();
  });

  it('writes warnings to standard error where there is no logger', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { logger, ...silent } = OPTIONS;
    expect(logger).toBeDefined();
    const ids = await openIdService({ ...silent, workerIdAssigner: 'static', workerId: 3, restartWaitMs: false });
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^\[Raindrop\] worker 3 was set by hand/));
    await ids.close();
    warn.mockRestore();
  });
});
