/**
 * Takes every path on one kind of database, in every form of the key, and prints what became of it: `filled`, `exact`,
 * `refused: CODE`, `wrong: WHY`, or `-` where Drizzle has no such path. It stops where a path is wrong and the blame is
 * not known.
 */
import assert from 'node:assert/strict';
import { type ReadPath, readPaths, type Rows } from './read-paths.js';
import { forms, type GivenDatabase, Shop } from './shop.js';
import { type Upsert, upserted } from './upserts.js';
import { type WritePath, writePaths } from './write-paths.js';

/** Of MariaDB, PostgreSQL and SQLite. */
const NOT_NULL = ['ER_BAD_NULL_ERROR', 'ER_NO_DEFAULT_FOR_FIELD', '23502', 'SQLITE_CONSTRAINT_NOTNULL'];

const REFUSALS = [
  ['selected fields are not the same', 'by Drizzle'],
  ['SQLite3 can only bind', 'by the driver'],
  ['invalid input syntax for type bigint', 'by the database'],
  ["right syntax to use near '(select coalesce(json_arrayagg", 'by the database without lateral joins'],
  ['Duplicate entry', 'duplicate key'],
  ['duplicate key value', 'duplicate key'],
  ['UNIQUE constraint failed', 'duplicate key'],
] as const;

/** A database for each form, and the upserts of test/orms/upserts.ts. */
const given = JSON.parse(process.argv[2]!) as {
  readonly databases: Readonly<Record<string, GivenDatabase>>;
  readonly upserts: readonly Upsert[];
  /** Whether the columns have a default in the database. */
  readonly databaseDefault?: boolean;
};
const cells: Record<string, Record<string, string>> = {};

for (const { key, ...form } of forms) {
  const declared = given.databaseDefault === true ? { ...key, databaseDefault: true } : key;
  const shop = await Shop.open(given.databases[form.name]!, { ...form, key: declared });
  for (const path of writePaths()) {
    const right = isByDatabase(shop, path) ? 'by the database' : 'filled';
    note(shop, `write ${path.row}`, path, await result(shop, path, isWritten, right));
  }
  for (const each of given.upserts) {
    (cells[`write ${each.row}`] ??= {})[form.name] = await upserted(shop, each, refusalOf);
  }
  for (const path of readPaths()) note(shop, `read ${path.row}`, path, await result(shop, path, isRead, 'exact'));
  await shop.close();
}
console.log(JSON.stringify(cells));

/** Paths of one row have to come out alike, except that Drizzle may not have all of them. */
function note({ form }: Shop, row: string, { name }: ReadPath | WritePath, found: string): void {
  const cell = (cells[row] ??= {});
  const present = cell[form.name] ?? '-';
  assert(present === '-' || found === '-' || present === found, `${name}: ${found}, others of '${row}': ${present}`);
  cell[form.name] = found === '-' ? present : found;
}

async function result<Path extends ReadPath | WritePath>(
  shop: Shop,
  path: Path,
  isRight: (shop: Shop, path: Path) => Promise<boolean>,
  right: string,
): Promise<string> {
  if (path.on?.includes(shop.kind) === false) return '-';
  try {
    if (await isRight(shop, path)) return right;
  } catch (error) {
    return refusalOf(error);
  }
  assert(path.wrongBy !== undefined, `${path.name}: silently wrong`);
  return `wrong: ${path.wrongBy}`;
}

/** Whether a path passes Drizzle, to columns that have a default. */
function isByDatabase({ form }: Shop, { row }: WritePath): boolean {
  return row === 'raw' && form.key.databaseDefault === true;
}

/** @throws the error itself where it is the suite's own */
function refusalOf(error: unknown): string {
  if (error instanceof assert.AssertionError) throw error;
  const chain: { errorCode?: string; why?: string; code?: string; message: string }[] = [];
  for (let each = error; each instanceof Error; each = each.cause) chain.push(each);
  const ours = chain.find(({ errorCode }) => errorCode !== undefined);
  if (ours !== undefined) return `refused: ${[ours.errorCode, ours.why].filter(Boolean).join(' ')}`;
  if (chain.some(({ code }) => NOT_NULL.includes(code ?? ''))) return 'refused: NOT NULL';
  const known = REFUSALS.find(([text]) => chain.some(({ message }) => message.includes(text)));
  if (known === undefined) throw error;
  return `refused: ${known[1]}`;
}

/** Whether the rows are there with IDs that the service issued, and the path told these. */
async function isWritten(shop: Shop, path: WritePath): Promise<boolean> {
  const before = new Set(await shop.stored());
  const added = async (): Promise<string[]> => {
    const digits = (await shop.stored()).filter((each) => !before.has(each));
    for (const each of digits) {
      const isExpected = shop.issued.has(each) !== isByDatabase(shop, path);
      assert(
        isExpected,
        `${path.name}: a row has ${each}, which the service has ${shop.issued.has(each) ? '' : 'never '}issued`,
      );
    }
    return digits;
  };
  try {
    const { rows, ids } = await path.run(shop);
    const digits = await added();
    assert.equal(digits.length, rows, path.name);
    return ids === undefined || isSame([...ids].sort(byText), digits.map(shop.form.of).sort(byText));
  } catch (error) {
    await added();
    throw error;
  }
}

/** Whether three orders, of which the second has two lines, are read as they are. */
async function isRead(shop: Shop, path: ReadPath): Promise<boolean> {
  const { orders, lines } = shop.schema;
  await shop.db.delete(lines);
  await shop.db.delete(orders);
  for (const number of ['1', '2', '3']) await shop.db.insert(orders).values({ number });
  const ids = (await shop.stored()).map(shop.form.of);
  await shop.db.insert(lines).values([1, 2].map(() => ({ orderId: ids[1] as never })));
  const rows: Rows = { orders: ids, lines: (await shop.stored('lines')).map(shop.form.of) };
  const [read, expected] = await path.run(shop, rows);
  return isSame(read, expected);
}

function byText(one: unknown, other: unknown): number {
  return String(one) < String(other) ? -1 : 1;
}

/** Whether values and types are the same. */
function isSame(one: unknown, other: unknown): boolean {
  try {
    assert.deepStrictEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
