import { type Layout, parseId } from '@raindrop/core';
import { type IdService, openBackfill, openIdService, type SnowflakeModuleOptions } from '@raindrop/node';
import { DataSource } from 'typeorm';
import { SILENT } from '../../support/module/start-app.js';
import { databaseKinds, testDatabase } from '../../support/servers/test-databases.js';
import { isFull } from '../../tier.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [short, walkThrough] = typescriptBlocks(readDocument('docs/import.md'));
const FROM = Date.parse('2016-04-01T00:00:00Z');
const TEN_YEARS = 10 * 365 * 86_400_000;
const ROWS = isFull ? 100_000 : 2_000;

/** The epoch lies ten years back, which it warns of. */
const openQuietly = (options: SnowflakeModuleOptions): Promise<IdService> =>
  openIdService({ ...options, logger: SILENT });

/** Many rows of some seconds, and long pauses. */
const timeOf = (nr: number): number => FROM + Math.floor(((nr >> 3) / (ROWS >> 3)) ** 3 * TEN_YEARS);

describe.each(databaseKinds)('docs/import.md on %s', (kind) => {
  it(`gives ${ROWS} rows of ten years IDs of their own times, in their order, next to a service`, async () => {
    const database = await testDatabase(kind);
    const dataSource = await new DataSource(database.options).initialize();
    try {
      await dataSource.query('CREATE TABLE old_orders (nr INTEGER PRIMARY KEY, created_ms BIGINT NOT NULL)');
      await dataSource.query('CREATE TABLE orders (id BIGINT PRIMARY KEY, nr INTEGER NOT NULL)');
      for (let from = 1; from <= ROWS; from += 1_000) {
        const rows = Array.from({ length: 1_000 }, (_, index) => `(${from + index}, ${timeOf(from + index)})`);
        await dataSource.query(`INSERT INTO old_orders VALUES ${rows.join(', ')}`);
      }
      const { moveOldOrders } = runBlock(walkThrough!, { openBackfill, openIdService: openQuietly }) as {
        moveOldOrders: (dbConfig: unknown, dataSource: DataSource) => Promise<Layout>;
      };
      const layout = await moveOldOrders(database.options, dataSource);
      const text = kind === 'mariadb' || kind === 'mysql' ? 'CHAR' : 'TEXT';
      const found = await dataSource.query<{ id: string; nr: number }[]>(
        `SELECT CAST(id AS ${text}) AS id, nr FROM orders ORDER BY orders.id`,
      );
      const old = found.slice(0, ROWS);
      expect(old.map(({ nr }) => Number(nr))).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
      const wrong = old.filter(({ id, nr }) => {
        const second = Math.floor(timeOf(Number(nr)) / 1_000) * 1_000;
        return parseId(layout, id).time.getTime() !== second;
      });
      expect(wrong).toEqual([]);
      expect(found.slice(ROWS).map(({ nr }) => Number(nr))).toEqual(Array.from({ length: ROWS / 1_000 }, () => 0));
      const inserted: { readonly id: string }[] = [];
      const orders = { insert: (row: { readonly id: string }) => void inserted.push(row) };
      const { importOrders } = runBlock(short!, { openBackfill, orders, options: { dbConfig: database.options } }) as {
        importOrders: (old: readonly object[]) => Promise<void>;
      };
      await importOrders([{ createdAt: new Date(FROM), title: 'Ada' }]);
      expect(inserted.map(({ id }) => parseId(layout, id).time.getTime())).toEqual([FROM]);
    } finally {
      await dataSource.destroy();
      await database.drop();
    }
  });
});
