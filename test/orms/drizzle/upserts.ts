import assert from 'node:assert/strict';
import { eq, sql } from 'drizzle-orm';
import type { Upsert } from '../upsert.js';
import type { Id, Shop } from './shop.js';

export type { Upsert };

interface Row {
  readonly id: Id;
  readonly number: string;
  readonly customer: string;
}

interface Inserted extends PromiseLike<unknown> {
  onConflictDoUpdate(config: object): PromiseLike<unknown>;
  onDuplicateKeyUpdate(config: object): PromiseLike<unknown>;
}

/** The statement of an upsert; undefined where Drizzle has none. */
function statementOf(shop: Shop, { statement, by, sets }: Upsert, row: Row): (() => PromiseLike<unknown>) | undefined {
  const { db, schema, kind, form, ids } = shop;
  const { orders } = schema;
  if (statement === 'replace' || statement === 'merge') return undefined;
  const isMysql = kind === 'mariadb' || kind === 'mysql';
  const newKey = (): Id => form.of(String(ids.nextId()));
  const given = { id: newKey(), number: `${row.number} too`, customer: 'Eve' };
  const source = db
    .select({ id: orders.id, number: orders.number, customer: sql`'after'`.as('customer') })
    .from(orders)
    .where(eq(orders.number, row.number));
  const insert = (): Inserted => {
    const into = db.insert(orders);
    if (statement === 'query') return into.select(source as never) as unknown as Inserted;
    return into.values(statement === 'bulk' ? [given as never, row as never] : (row as never)) as unknown as Inserted;
  };
  const id = {
    others: undefined,
    'new key': isMysql ? sql`values(${sql.identifier('id')})` : sql`excluded.id`,
    value: row.id,
    'third value': newKey(),
  }[sets];
  const set = { customer: 'after', ...(id !== undefined && { id }) };
  return async () =>
    isMysql
      ? insert().onDuplicateKeyUpdate({ set })
      : insert().onConflictDoUpdate({ target: by === 'id' ? orders.id : orders.number, set });
}

let numbers = 0;

/**
 * Upserts a row of which one is there with the same number.
 * @param refusalOf tells what an error is
 */
export async function upserted(shop: Shop, upsert: Upsert, refusalOf: (error: unknown) => string): Promise<string> {
  const { db, schema, form, ids } = shop;
  const { orders } = schema;
  const number = `upserted ${++numbers}`;
  const kept = form.of(String(ids.nextId()));
  await db.insert(orders).values({ id: kept as never, number, customer: 'before' });
  const id = upsert.key === 'same' ? kept : form.of(String(ids.nextId()));
  const statement = statementOf(shop, upsert, { id, number, customer: 'new' });
  if (statement === undefined) return '-';
  let found = 'kept';
  try {
    await statement();
  } catch (error) {
    found = refusalOf(error);
  }
  const rows = await db.select().from(orders).where(eq(orders.number, number));
  const customer = found === 'kept' ? 'after' : 'before';
  assert.deepStrictEqual(rows, [{ id: kept, number, customer }], upsert.row);
  return found;
}
