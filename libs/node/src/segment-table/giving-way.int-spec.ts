import type { Segment } from '@raindrop/core';
import { DataSource } from 'typeorm';
import { openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { openStore } from '../../../../test/support/stores/open-store.js';
import { expectApart } from '../../../../test/proof/contract/segment-store.contract.js';
import { turnCountingProxy } from '../../../../test/support/proxies/turn-counting-proxy.js';
import { writeTo } from '../../../../test/proof/contract/worker-store.contract.js';
import { overPortsOfTier } from '../../../../test/support/stores/sql-database.js';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { runs } from '../../../../test/tier.js';
import { until } from '../../../../test/support/until.js';

type OpenSegmentStore = ReturnType<typeof openSegmentStore>;

const STORES = 12;
const ROUNDS = runs(25);

overPortsOfTier(() => {
  describe('A statement that gave way to others is sent again, over the same connection', () => {
    let database: TestDatabase;
    let others: DataSource;
    let proxy: Awaited<ReturnType<typeof turnCountingProxy>>;
    const stores: { close(): Promise<void> }[] = [];

    const open = async (kind: DatabaseKind): Promise<TestDatabase['options']> => {
      database = await testDatabase(kind);
      others = await new DataSource(database.options).initialize();
      proxy = await turnCountingProxy(database.options as unknown as { host: string; port: number });
      return { ...database.options, port: proxy.port };
    };

    const openSerializable = async (): Promise<TestDatabase['options']> => {
      const options = await open('postgres');
      const name = String(database.options.database);
      await others.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
      return options;
    };

    const expectRolledBack = (): Promise<unknown> =>
      until('the database to tell of rollbacks', async () => {
        const sql = 'SELECT xact_rollback::int AS n FROM pg_stat_database WHERE datname = current_database()';
        return (await others.query<{ n: number }[]>(sql))[0]!.n > 0;
      });

    /** Reserves while another transaction changes the row: whether the stores above meet one another is chance. */
    const reserveInConflict = async (source: ReturnType<OpenSegmentStore['source']>): Promise<Segment> => {
      const changing = others.createQueryRunner();
      await changing.startTransaction('SERIALIZABLE');
      await changing.query('UPDATE raindrop_segment SET max_id = max_id');
      const reserving = source.reserve({ count: 10, above: 0n });
      await until('the reservation to wait for the row', async () => {
        const sql = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        return (await others.query<unknown[]>(sql)).length > 0;
      });
      await changing.commitTransaction();
      await changing.release();
      return reserving;
    };

    afterEach(async () => {
      await Promise.all(stores.splice(0).map((store) => store.close()));
      await others.destroy();
      await proxy.stop();
      await database.drop();
    });

    it('by a serializable PostgreSQL: no reservation fails, and no number comes twice', async () => {
      const options = await openSerializable();
      const all = Array.from({ length: STORES }, () => openSegmentStore(options));
      stores.push(...all);
      for (const store of all) await store.prepare();
      const segments: Segment[] = [];
      await Promise.all(
        all.map(async (store) => {
          const source = store.source('orders');
          for (let round = 0; round < ROUNDS; round++) segments.push(await source.reserve({ count: 10, above: 0n }));
        }),
      );
      segments.push(await reserveInConflict(all[0]!.source('orders')));
      expect(segments).toHaveLength(STORES * ROUNDS + 1);
      expectApart(segments, { withoutGaps: false });
      expect(proxy.connections).toBe(STORES);
      // A session that has ended tells of its rollbacks at once, an idle one after 10 s.
      await Promise.all(stores.splice(0).map((store) => store.close()));
      await expectRolledBack();
    });

    it('by a serializable PostgreSQL: every renewal of a lease succeeds', async () => {
      const options = await openSerializable();
      const all = Array.from({ length: STORES }, () => openStore(options));
      stores.push(...all);
      for (const store of all) await store.prepare({ min: 1, max: STORES });
      await Promise.all(
        all.map(async (store, index) => {
          for (let round = 0; round < ROUNDS; round++) {
            const { row } = await store.readRow(index + 1);
            expect(await store.write(writeTo(row!, { token: `${index} ${round}` }))).toBe(true);
          }
        }),
      );
      expect(proxy.connections).toBe(STORES);
    });

    it.each(['mariadb', 'postgres'] as const)('by a lock that was not free in time (%s)', async (kind) => {
      const store = openSegmentStore(await open(kind));
      stores.push(store);
      await store.prepare();
      const source = store.source('orders');
      await source.reserve({ count: 10, above: 0n });
      const holder = others.createQueryRunner();
      await holder.startTransaction();
      await holder.query('UPDATE raindrop_segment SET max_id = max_id');
      const before = proxy.turns;
      const reserving = source.reserve({ count: 10, above: 0n });
      await until('it to give way, and to be sent again', () => proxy.turns === before + 2);
      await holder.rollbackTransaction();
      await holder.release();
      expect(await reserving).toMatchObject({ first: 11n, last: 20n });
      expect(proxy.connections).toBe(1);
    });
  });
});
