import { typedId } from '@raindrop/core';
import { DataSource, type QueryRunner } from 'typeorm';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { readDocument } from '../../published/docs/typescript-blocks.js';
import { jsonHere } from './cli-in-process.js';

const MAX_ID = 2n ** 63n - 1n;
const IDS = 2_000;

const LONGEST = `a${'0'.repeat(29)}_z`.slice(0, 30) + 'z';
const PREFIXES = ['order', 'o', 'a_b', 'a__9', 'x0_1_2', LONGEST];
const NO_PREFIXES = [
  '',
  'Order',
  '_a',
  'a_',
  '1a',
  'a-b',
  'a b',
  'order ',
  'order\n',
  'ordér',
  'ａ',
  '漢',
  `${LONGEST}z`,
];

/** Every size of an ID, and those at the ends. */
function randomIds(random: SeededRandom): bigint[] {
  const found = new Set([0n, 1n, 61n, 62n, 62n ** 10n - 1n, 62n ** 10n, 2n ** 53n, MAX_ID - 1n, MAX_ID]);
  while (found.size < IDS) {
    const id = ((BigInt(random.bits()) << 32n) | BigInt(random.bits())) & MAX_ID;
    found.add(id >> BigInt(random.below(63)));
  }
  return [...found];
}

/** What the codec of a text's own prefix reads in it; null for what it refuses. */
function idOf(text: string): string | null {
  try {
    return String(typedId(text.slice(0, text.lastIndexOf('_'))).decode(text));
  } catch {
    return null;
  }
}

/** Texts that look like typed IDs: wrong by a character or two, or by nothing. */
function nearlyTyped(random: SeededRandom): string[] {
  const zeros = '0'.repeat(11);
  const texts = [
    ...['', '_', 'order', 'order_', zeros, `_${zeros}`, `order${zeros}`, `order__${zeros}`, `order_${zeros}0`],
    ...[`order_${zeros.slice(1)}`, `ORDER_${zeros}`, `Order_${zeros}`, `order_AzL8n0Y58m7`, `order_AzL8n0Y58m8`],
    ...[
      `order_zzzzzzzzzzz`,
      `order_aZl8N0y58M7`,
      `order_${zeros}\n`,
      ` order_${zeros}`,
      `order_${zeros} `,
      `1_${zeros}`,
    ],
    ...[`order_0000000000é`, `order_0000000000०`, `order\n_${zeros}`, `order_0000000\n000`],
    ...[`${LONGEST}_${zeros}`, `${LONGEST}z_${zeros}`, `a_b_${zeros}`, `a__${zeros}`, 'x'.repeat(300), '💧'.repeat(43)],
  ];
  const characters = [...'09AZaz_-.~ é💧\n\t%'];
  while (texts.length < IDS) {
    const prefix = random.pick(PREFIXES);
    const id = ((BigInt(random.bits()) << 32n) | BigInt(random.bits())) & MAX_ID;
    const text = [...typedId(prefix).encode(id)];
    for (let changes = random.below(3); changes > 0; changes--) {
      text.splice(
        random.below(text.length + 1),
        random.below(2),
        ...(random.below(3) > 0 ? [random.pick(characters)] : []),
      );
    }
    texts.push(text.join(''));
  }
  return texts;
}

describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('typed IDs on %s', (kind) => {
  const isPostgres = kind === 'postgres';
  const text = (value: string): string => (isPostgres ? `(${value})::text` : `CAST(${value} AS CHAR)`);
  const literal = (value: string): string =>
    isPostgres
      ? `E'${value.replace(/['\\\n\t]/g, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`
      : `CONVERT(X'${Buffer.from(value).toString('hex')}' USING utf8mb4)`;
  let database: TestDatabase;
  let dataSource: DataSource;
  let session: QueryRunner;

  const rows = <T>(sql: string): Promise<T[]> => session.query(sql) as Promise<T[]>;

  async function run(statements: readonly string[]): Promise<void> {
    for (const each of statements) await session.query(each);
  }

  async function printed(...args: string[]): Promise<string[]> {
    const { code, result } = await jsonHere<{ statements: string[] }>(['sql', '--db', kind, ...args]);
    expect(code).toBe(0);
    return result.statements;
  }

  beforeAll(async () => {
    database = await testDatabase(kind);
    dataSource = await new DataSource(database.options).initialize();
    session = dataSource.createQueryRunner();
  });

  afterAll(async () => {
    await session.release();
    await dataSource.destroy();
    await database.drop();
  });

  /** Makes a table anew, with these values. */
  async function fill(table: string, columns: string, values: readonly string[]): Promise<void> {
    await run([`DROP TABLE IF EXISTS ${table}`, `CREATE TABLE ${table} (${columns})`]);
    for (let at = 0; at < values.length; at += 500) {
      const slice = values.slice(at, at + 500).map((each, index) => `(${at + index}, ${each})`);
      await run([`INSERT INTO ${table} VALUES ${slice.join(', ')}`]);
    }
  }

  describe.each([
    ['the default layout', []],
    ['64 bits', ['--preset', 'discord']],
  ])('of %s', (_, flags) => {
    const isUnsigned = flags.length > 0 && !isPostgres;
    const idType = isUnsigned ? 'bigint unsigned' : 'bigint';
    const textType = isPostgres ? 'text' : 'varchar(300) CHARACTER SET utf8mb4';

    beforeAll(async () => {
      const statements = await printed(...flags);
      // A second time they take the place of the first ones.
      await run([...statements, ...statements]);
    });

    it('are those of typedId(), in both directions', async () => {
      const ids = randomIds(new SeededRandom(58));
      await fill('ids', `n int, id ${idType}`, ids.map(String));
      for (const prefix of PREFIXES) {
        const codec = typedId(prefix);
        const found = await rows<{ id: string; typed: string; back: string }>(
          `SELECT ${text('id')} AS id, raindrop_typed(id, '${prefix}') AS typed, ` +
            `${text(`raindrop_id_of(raindrop_typed(id, '${prefix}'))`)} AS back FROM ids`,
        );
        expect(found).toHaveLength(ids.length);
        expect(found.filter(({ id, typed, back }) => typed !== codec.encode(BigInt(id)) || back !== id)).toEqual([]);
      }
    });

    it('of a text that the codec refuses, and of NULL, there is none', async () => {
      const texts = nearlyTyped(new SeededRandom(59));
      await fill('texts', `n int, given ${textType}`, texts.map(literal));
      const found = await rows<{ n: number; id: string | null }>(
        `SELECT n, ${text('raindrop_id_of(given)')} AS id FROM texts`,
      );
      expect(found).toHaveLength(texts.length);
      const wrong = found.filter(({ n, id }) => id !== idOf(texts[n]!));
      expect(wrong.map(({ n, id }) => [texts[n], id])).toEqual([]);
      expect(found.filter(({ id }) => id !== null).length).toBeGreaterThan(IDS / 5);
      expect(found.filter(({ id }) => id === null).length).toBeGreaterThan(IDS / 5);
      expect(await rows('SELECT raindrop_id_of(NULL) AS id')).toEqual([{ id: null }]);
    });

    it('of a prefix that typedId() refuses, a negative number, what is above 2^63 - 1, and NULL, there is none', async () => {
      for (const prefix of NO_PREFIXES) {
        expect(() => typedId(prefix)).toThrow();
        const [found] = await rows(`SELECT raindrop_typed(1, ${literal(prefix)}) AS typed`);
        expect([prefix, found]).toEqual([prefix, { typed: null }]);
      }
      const none = [`NULL, 'order'`, '1, NULL', ...(isUnsigned ? [`${MAX_ID + 1n}, 'order'`] : [`-1, 'order'`])];
      for (const given of none) {
        expect(await rows(`SELECT raindrop_typed(${given}) AS typed`)).toEqual([{ typed: null }]);
      }
    });
  });

  it('find a row by what a customer sends, as the document shows', async () => {
    const [, query] = [...readDocument('docs/sql.md').matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql!);
    await run(await printed());
    await run([
      'DROP TABLE IF EXISTS orders',
      `CREATE TABLE orders (id bigint PRIMARY KEY, customer varchar(20))`,
      `INSERT INTO orders VALUES (28202473252454400, 'Ada'), (28202473252454401, 'Bob')`,
    ]);
    expect(typedId('order').decode('order_025AOM8U10j')).toBe(28202473252454401n);
    const answers: unknown[] = [];
    for (const each of query!.split(';').filter((part) => part.trim() !== '')) answers.push(await rows(each));
    expect(answers).toEqual([[{ customer: 'Bob' }], [{ typed: 'order_025AOM8U10i' }, { typed: 'order_025AOM8U10j' }]]);
    const plan = await rows<Record<string, string>>(
      `EXPLAIN ${isPostgres ? '(COSTS OFF) ' : ''}SELECT customer FROM orders WHERE id = raindrop_id_of('order_025AOM8U10j')`,
    );
    // MySQL's access by one value of a unique key; a table of two rows is read as a whole by PostgreSQL.
    if (!isPostgres) expect(plan[0]!['type']).toBe('const');
  });

  it('are compared with columns of texts', async () => {
    await run(await printed());
    const values = ['order_025AOM8U10j', 'order_025aOM8U10j', 'ORDER_025AOM8U10j'].map((each) => `'${each}'`);
    // MySQL compares by the collation of the column.
    await fill('refs', `n int, ref varchar(50) ${isPostgres ? '' : 'CHARACTER SET ascii COLLATE ascii_bin'}`, values);
    const found = `SELECT n FROM refs WHERE ref = raindrop_typed(28202473252454401, 'order')`;
    expect(await rows(found)).toEqual([{ n: 0 }]);
    expect(await rows('SELECT n FROM refs WHERE raindrop_id_of(ref) = 28202473252454401')).toEqual([{ n: 0 }]);
  });

  if (!isPostgres) return;

  it('are a part of the query, and of indexes', async () => {
    await run(await printed());
    await run([
      'DROP TABLE IF EXISTS orders',
      'CREATE TABLE orders (id bigint PRIMARY KEY, ref text)',
      `INSERT INTO orders SELECT n, raindrop_typed(n, 'order') FROM generate_series(1, 1000) n`,
      `CREATE INDEX typed ON orders (raindrop_typed(id, 'order'))`,
      'CREATE UNIQUE INDEX read ON orders (raindrop_id_of(ref))',
      'SET enable_seqscan = off',
      'SET enable_bitmapscan = off',
    ]);
    const plan = async (query: string): Promise<string> =>
      (await rows<Record<string, string>>(`EXPLAIN (VERBOSE, COSTS OFF) ${query}`))
        .map((each) => each['QUERY PLAN'])
        .join('\n');
    expect(await plan(`SELECT id FROM orders WHERE raindrop_typed(id, 'order') = 'order_00000000007'`)).toContain(
      'using typed',
    );
    expect(await plan('SELECT id FROM orders WHERE raindrop_id_of(ref) = 7')).toContain('using read');
    expect(await plan(`SELECT id FROM orders WHERE id = raindrop_id_of('order_00000000007')`)).toContain(
      `Index Cond: (orders.id = '7'::bigint)`,
    );
    expect(await plan(`SELECT raindrop_typed(id, 'order'), raindrop_id_of(ref) FROM orders`)).not.toContain(
      'raindrop_',
    );
    expect(await rows(`SELECT id FROM orders WHERE raindrop_id_of(ref) = 7`)).toEqual([{ id: '7' }]);
    await run(['RESET enable_seqscan', 'RESET enable_bitmapscan']);
  });

  it('do not depend on the search_path of a session', async () => {
    const calls = `SELECT raindrop.raindrop_typed(7, 'order') AS a, raindrop.raindrop_id_of('order_00000000007')::text AS b,
      raindrop.raindrop_worker(1 << 20)::text AS c`;
    const naive = `SELECT raindrop.naive(7) AS a`;
    await run([
      'CREATE SCHEMA raindrop',
      'SET search_path = raindrop',
      ...(await printed()),
      `CREATE FUNCTION naive(id bigint) RETURNS text LANGUAGE sql AS $$ SELECT substr('0123456789', (id / 1)::int + 1, 1) $$`,
    ]);
    const [before, control] = [await rows(calls), await rows(naive)];
    await run([
      'CREATE SCHEMA other',
      ...['substr(text, int, int)', 'right(text, int)'].map(
        (each) => `CREATE FUNCTION other.${each} RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$`,
      ),
      `CREATE FUNCTION other.strpos(text, text) RETURNS int LANGUAGE sql AS $$ SELECT 3 $$`,
      `CREATE FUNCTION other.wrong(bigint, bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 5::bigint $$`,
      ...['/', '%', '+', '*', '&'].map(
        (each) => `CREATE OPERATOR other.${each} (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = other.wrong)`,
      ),
      'SET search_path = other, pg_catalog',
    ]);
    expect(await rows(calls)).toEqual(before);
    expect(before).toEqual([{ a: 'order_00000000007', b: '7', c: '1' }]);
    // A function with a text as its body looks names up when it is called.
    expect(await rows(naive)).not.toEqual(control);
    await run(['RESET search_path']);
  });
});
