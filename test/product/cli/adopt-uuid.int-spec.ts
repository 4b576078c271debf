import { databaseUrl } from '../service/service-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { using } from './adoption.js';
import { inPieces } from './in-pieces.js';
import { jsonHere } from './cli-in-process.js';
import { compiledMigration, typeErrors } from './compiled-migration.js';
import { fillShop, isServer, shopContent, shopDefinition, shopNames, shopTables } from './uuid-shop.js';
import { KEYS, type UuidAdoption } from './uuid-adoption.js';
import { DataSource } from 'typeorm';

const cases = databaseKinds
  .filter(isServer)
  .flatMap((kind) => KEYS[kind].map((key) => ({ kind, type: key.type, key })));

/** Compiled at the end, together. */
const migrations: string[] = [];

const COUNT = 40;

beforeAll(() => {
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
});

describe.each(cases)('raindrop adopt --from uuid on $kind with $type', ({ kind, key }) => {
  let database: TestDatabase;
  let made: string[];
  const { orders, orderId, lines } = shopNames(kind);

  beforeEach(async () => {
    database = await testDatabase(kind);
    made = await using(database, {}, async (source) => {
      for (const each of shopTables(kind, key)) await source.query(each);
      return fillShop(source, kind, key, COUNT);
    });
  });

  afterEach(() => database.drop());

  const adopt = async (): Promise<UuidAdoption> => {
    const args = ['adopt', '--url', databaseUrl(database.options), '--from', 'uuid', '--table', `"Ord'ers"`];
    const { code, result } = await jsonHere<UuidAdoption>([...args, '--order-by', 'made']);
    expect(code).toBe(0);
    return result;
  };

  const open = (texts: readonly string[]): Promise<DataSource> =>
    new DataSource({ ...database.options, migrations: texts.map(compiledMigration) }).initialize();

  it('numbers the rows in the order of creation, rewrites all that refers to them, and goes back', async () => {
    const { keys, references, migrations: files, firstNewId } = await adopt();
    expect(keys).toMatchObject([{ rows: String(COUNT), order: 'by made, then by the UUID', keeps: 'id_uuid' }]);
    expect(references.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([
      ...["Ord'ers.parent_id", 'bills.id', 'lines.orderId', 'lines.other', 'reminders.bill', 'tags.order_id'],
    ]);
    const texts = files.map(({ migration }) => migration);
    migrations.push(...texts);
    const source = await open(texts);
    try {
      const [content, definition] = [await shopContent(source, kind, 'id'), await shopDefinition(source, kind)];
      await source.runMigrations({ transaction: 'none' });
      expect(await shopContent(source, kind, 'id_uuid')).toEqual(content);
      const numbered = await source.query<{ id: string }[]>(`SELECT id FROM ${orders} ORDER BY made`);
      const first = Number(numbered[0]!.id);
      expect(numbered.map(({ id }) => Number(id))).toEqual(made.map((_, at) => first + at));
      await expectRules(source, firstNewId, first);
      await expectNothingByUuid(source);
      expect(await shopContent(source, kind, 'id_uuid')).toEqual(content);
      await source.undoLastMigration({ transaction: 'none' });
      await source.undoLastMigration({ transaction: 'none' });
      expect(await shopContent(source, kind, 'id')).toEqual(content);
      expect(await shopDefinition(source, kind)).toEqual(definition);
      // Once more, from the beginning.
      await source.runMigrations({ transaction: 'none' });
      expect(await shopContent(source, kind, 'id_uuid')).toEqual(content);
    } finally {
      await source.destroy();
    }
  });

  /** What the tables hold to, with a row of Raindrop's; it is gone afterwards. */
  async function expectRules(source: DataSource, id: string, first: number): Promise<void> {
    const refused = async (sql: string): Promise<void> => {
      await expect(source.query(sql)).rejects.toThrow(/foreign key|null|duplicate|default/i);
    };
    await source.query(`INSERT INTO ${orders} (id, tenant, parent_id, made) VALUES (${id}, 1, ${first}, '2025-01-01')`);
    await source.query(`INSERT INTO ${lines} (id, tenant, ${orderId}, product) VALUES (900, 1, ${id}, 1)`);
    await source.query(`INSERT INTO tags (order_id, tag) VALUES (${id}, 'c')`);
    await refused(`INSERT INTO ${orders} (tenant, made) VALUES (1, '2025-01-01')`);
    await refused(`INSERT INTO ${orders} (id, tenant, made) VALUES (${first}, 1, '2025-01-01')`);
    await refused(`INSERT INTO ${lines} (id, tenant, ${orderId}) VALUES (901, 1, ${id}1)`);
    await refused(`INSERT INTO ${lines} (id, tenant, ${orderId}) VALUES (901, 2, ${id})`);
    await refused(`INSERT INTO ${lines} (id, tenant) VALUES (901, 1)`);
    await refused(`INSERT INTO ${lines} (id, tenant, ${orderId}, product) VALUES (901, 1, ${id}, 1)`);
    await refused(`INSERT INTO tags (order_id, tag) VALUES (${id}, 'c')`);
    await refused(`INSERT INTO bills (id) VALUES (${id}1)`);
    await refused(`DELETE FROM ${orders} WHERE id = ${first}`);
    const [row] = await source.query<{ kept: unknown }[]>(`SELECT id_uuid AS kept FROM ${orders} WHERE id = ${id}`);
    expect(row!.kept).not.toBeNull();
    await source.query(`DELETE FROM ${orders} WHERE id = ${id}`);
    expect(await source.query<object[]>(`SELECT 1 FROM ${lines} WHERE id = 900`)).toEqual([]);
  }

  /** An old process, or an old link, gets no row whose number is what its UUID begins with. */
  async function expectNothingByUuid(source: DataSource): Promise<void> {
    const starts = ['00000001', '00000003', '3a000000', '5abcdef0', '1e000000', '100001e3', '12e45678', '9e999999'];
    for (const uuid of [...starts.map((start) => `${start}-2f1c-4d3e-8a5b-6c7d8e9fa0b1`), ...made]) {
      const id = key.sql(uuid);
      for (const sql of [
        `SELECT id FROM ${orders} WHERE id = ${id}`,
        `SELECT id FROM ${lines} WHERE ${orderId} = ${id}`,
      ]) {
        expect(await source.query<object[]>(sql).catch(() => [])).toEqual([]);
      }
      await source.query(`UPDATE ${orders} SET tenant = 77 WHERE id = ${id}`).catch(() => undefined);
      await source.query(`DELETE FROM ${lines} WHERE ${orderId} = ${id}`).catch(() => undefined);
    }
  }

  // The work is the same for every kind of key.
  if (key !== KEYS[kind][0]) return;

  it('goes on where it ended, there and back', async () => {
    const texts = (await adopt()).migrations.map(({ migration }) => migration);
    const source = await open(texts);
    try {
      const [content, definition] = [await shopContent(source, kind, 'id'), await shopDefinition(source, kind)];
      expect(await inPieces(source, () => source.runMigrations({ transaction: 'none' }))).toBeGreaterThan(5);
      expect(await shopContent(source, kind, 'id_uuid')).toEqual(content);
      expect(await inPieces(source, () => source.undoLastMigration({ transaction: 'none' }))).toBeGreaterThan(2);
      expect(await inPieces(source, () => source.undoLastMigration({ transaction: 'none' }))).toBeGreaterThan(0);
      expect(await shopContent(source, kind, 'id')).toEqual(content);
      expect(await shopDefinition(source, kind)).toEqual(definition);
    } finally {
      await source.destroy();
    }
  });

  it('can be taken back before the swap', async () => {
    const [number] = (await adopt()).migrations.map(({ migration }) => migration);
    const source = await open([number!]);
    try {
      const [content, definition] = [await shopContent(source, kind, 'id'), await shopDefinition(source, kind)];
      await source.runMigrations({ transaction: 'none' });
      await source.undoLastMigration({ transaction: 'none' });
      expect(await shopContent(source, kind, 'id')).toEqual(content);
      expect(await shopDefinition(source, kind)).toEqual(definition);
    } finally {
      await source.destroy();
    }
  });
});

it('the migrations are TypeScript that a strict compiler takes', () => {
  expect(migrations.length).toBeGreaterThan(0);
  expect(typeErrors(migrations.slice(0, 4))).toEqual([]);
});
