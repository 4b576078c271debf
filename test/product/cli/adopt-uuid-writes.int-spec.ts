import { DataSource } from 'typeorm';
import { databaseUrl } from '../service/service-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { jsonHere } from './cli-in-process.js';
import { compiledMigration } from './compiled-migration.js';
import { KEYS, type UuidAdoption } from './uuid-adoption.js';
import { fillShop, isServer, shopNames, shopTables } from './uuid-shop.js';
import { ShopWriter } from './uuid-writer.js';

const COUNT = 40;

beforeAll(() => {
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
});

describe.each(databaseKinds.filter(isServer))(
  'an application that writes while adopt --from uuid runs on %s',
  (kind) => {
    const key = KEYS[kind][0]!;
    let database: TestDatabase;
    let source: DataSource;
    let made: string[];
    let files: string[];

    beforeEach(async () => {
      database = await testDatabase(kind);
      const base = await new DataSource(database.options).initialize();
      for (const each of shopTables(kind, key)) await base.query(each);
      made = await fillShop(base, kind, key, COUNT);
      const { orders, lines, orderId } = shopNames(kind);
      if (kind !== 'mysql') {
        const [uuid, from] =
          kind === 'postgres' ? ['gen_random_uuid()', 'generate_series(1, 20000) n'] : ['uuid()', 'seq_1_to_20000'];
        await base.query(`INSERT INTO ${orders} (id, tenant, made) SELECT ${uuid}, 0, '2024-06-01' FROM ${from}`);
        await base.query(
          `INSERT INTO ${lines} (id, tenant, ${orderId}, product) SELECT 20000000 + row_number() OVER (ORDER BY id), tenant, id, 1 FROM ${orders} WHERE made = '2024-06-01'`,
        );
      }
      await base.destroy();
      const args = [
        'adopt',
        '--url',
        databaseUrl(database.options),
        '--from',
        'uuid',
        '--table',
        `"Ord'ers"`,
        '--order-by',
        'made',
      ];
      const { result } = await jsonHere<UuidAdoption>(args);
      files = result.migrations.map(({ migration }) => migration);
      source = await new DataSource({ ...database.options, migrations: files.map(compiledMigration) }).initialize();
    });

    afterEach(async () => {
      if (source.isInitialized) await source.destroy();
      await database.drop();
    });

    const content = async (uuid: 'id' | 'id_uuid'): Promise<{ orders: unknown; lines: unknown }> => {
      const { orders, lines, orderId } = shopNames(kind);
      const text = (name: string): string => (kind === 'postgres' ? `${name}.${uuid}::text` : `${name}.${uuid}`);
      const [foundOrders, foundLines] = [
        await source.query<{ a: string; b: string | null }[]>(
          `SELECT ${text('o')} AS a, ${text('p')} AS b FROM ${orders} o LEFT JOIN ${orders} p ON p.id = o.parent_id WHERE o.made >= '2025-01-01'`,
        ),
        await source.query<{ n: number; a: string; b: string | null }[]>(
          `SELECT l.id AS n, ${text('o')} AS a, ${text('p')} AS b FROM ${lines} l JOIN ${orders} o ON o.id = l.${orderId} ` +
            `LEFT JOIN ${orders} p ON p.id = l.other WHERE l.id BETWEEN 1000000 AND 9000000 ORDER BY l.id`,
        ),
      ];
      return {
        orders: foundOrders.map(({ a, b }) => [a, b]).sort(),
        lines: foundLines.map(({ n, a, b }) => [n, a, b]),
      };
    };

    it('loses nothing that was acknowledged, and is refused after the swap', async () => {
      const writing = await new DataSource(database.options).initialize();
      try {
        const writers = [1, 2, 3].map((number) => new ShopWriter(writing, kind, key, made, number));
        const refusals = writers.map((writer) => writer.run());
        await source.runMigrations({ transaction: 'none' });
        for (const refused of refusals) expect(await refused).toBeInstanceOf(Error);
        const written = writers.flatMap(({ orders }) => [...orders]).sort();
        expect(written.length).toBeGreaterThan(10);
        expect(await content('id_uuid')).toEqual({
          orders: written,
          lines: writers.flatMap(({ lines }) => [...lines].map(([n, { order, other }]) => [n, order, other])),
        });
      } finally {
        await writing.destroy();
      }
    });

    it('is noticed when its rows are not numbered: nothing is swapped', async () => {
      const [number, swap] = files as [string, string];
      // The control: no trigger numbers what comes meanwhile.
      const without = number.replaceAll(/`CREATE TRIGGER (?:\\.|[^`\\])*`/g, '`SELECT 1`');
      expect(without).not.toBe(number);
      await source.destroy();
      source = await new DataSource({
        ...database.options,
        migrations: [without, swap].map(compiledMigration),
      }).initialize();
      const writer = new ShopWriter(source, kind, key, made, 1);
      const refused = writer.run();
      const migrated = source.runMigrations({ transaction: 'none' });
      await expect(migrated).rejects.toThrow();
      writer.stop();
      await refused;
      const { orders } = shopNames(kind);
      await expect(source.query(`SELECT id_uuid FROM ${orders}`)).rejects.toThrow();
    });
  },
);
