import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { DatabaseKind } from '../../support/servers/test-databases.js';

/** The servers that `--from uuid` is for. */
export const isServer = (kind: DatabaseKind): boolean => kind !== 'sqlite';

/** How a kind of key is written down. */
export interface KeyType {
  readonly type: string;
  readonly sql: (uuid: string) => string;
}

export const plainKey = (type: string): KeyType => ({ type, sql: (uuid) => `'${uuid}'` });

/**
 * A shop whose keys are UUIDs: orders that refer to one another, lines with indexes of every sort, a table whose key is
 * made of references, one whose key is one, and one behind that.
 */
export function shopTables(kind: DatabaseKind, { type }: KeyType): string[] {
  const q = kind === 'postgres' ? '"' : '`';
  const changed =
    kind === 'postgres'
      ? 'changed timestamp NOT NULL DEFAULT now()'
      : 'changed datetime(3) NOT NULL DEFAULT now(3) ON UPDATE now(3)';
  const moment = kind === 'postgres' ? 'timestamp' : 'datetime(6)';
  return [
    `CREATE TABLE ${q}Ord'ers${q} (id ${type} NOT NULL, tenant int NOT NULL, parent_id ${type} NULL, made ${moment} NOT NULL, ${changed}, ` +
      'CONSTRAINT pk_orders PRIMARY KEY (id), CONSTRAINT by_tenant UNIQUE (tenant, id), ' +
      `CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES ${q}Ord'ers${q} (id) ON DELETE SET NULL)`,
    'CREATE TABLE products (id int PRIMARY KEY)',
    `CREATE TABLE ${q}lines${q} (id int NOT NULL PRIMARY KEY, tenant int NOT NULL, ${q}orderId${q} ${type} NOT NULL, other ${type}, product int, ${changed}, ` +
      'CONSTRAINT of_product FOREIGN KEY (product) REFERENCES products (id), ' +
      `CONSTRAINT of_order FOREIGN KEY (tenant, ${q}orderId${q}) REFERENCES ${q}Ord'ers${q} (tenant, id) ON DELETE CASCADE, ` +
      `CONSTRAINT of_other FOREIGN KEY (other) REFERENCES ${q}Ord'ers${q} (id) ON DELETE SET NULL)`,
    `CREATE UNIQUE INDEX one_product ON ${q}lines${q} (${q}orderId${q}, product)`,
    `CREATE INDEX latest ON ${q}lines${q} (product, ${q}orderId${q} DESC)`,
    `CREATE TABLE tags (order_id ${type} NOT NULL, tag varchar(9) NOT NULL, PRIMARY KEY (order_id, tag), ` +
      `CONSTRAINT of_tag FOREIGN KEY (order_id) REFERENCES ${q}Ord'ers${q} (id) ON DELETE CASCADE)`,
    `CREATE TABLE bills (id ${type} NOT NULL PRIMARY KEY, CONSTRAINT bill_of FOREIGN KEY (id) REFERENCES ${q}Ord'ers${q} (id))`,
    `CREATE TABLE reminders (id int PRIMARY KEY, bill ${type} NOT NULL, CONSTRAINT of_bill FOREIGN KEY (bill) REFERENCES bills (id) ON DELETE CASCADE)`,
    'INSERT INTO products VALUES (1), (2)',
  ];
}

/** The table of orders, and a column of the lines, as SQL names them. */
export function shopNames(kind: DatabaseKind): { orders: string; orderId: string; lines: string } {
  const q = kind === 'postgres' ? '"' : '`';
  return { orders: `${q}Ord'ers${q}`, orderId: `${q}orderId${q}`, lines: `${q}lines${q}` };
}

/** Orders that were made in another order than they are written; their UUIDs, the oldest first. */
export async function fillShop(
  source: DataSource,
  kind: DatabaseKind,
  { sql }: KeyType,
  count: number,
): Promise<string[]> {
  const { orders, lines } = shopNames(kind);
  const made = Array.from({ length: count }, randomUUID);
  const written = [...made.keys()].sort((a, b) => ((a * 7) % count) - ((b * 7) % count));
  for (const at of written) {
    const when = `2024-01-01 00:${String(Math.floor(at / 60) % 60).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
    const values = [sql(made[at]!), String(at % 3), 'NULL', `'${when}'`, "'2023-01-01 00:00:00'"];
    await source.query(`INSERT INTO ${orders} (id, tenant, parent_id, made, changed) VALUES (${values.join(', ')})`);
  }
  for (const [at, id] of made.entries()) {
    const other = at % 4 === 0 ? 'NULL' : sql(made[(at * 5) % count]!);
    if (at > 0) {
      await source.query(
        `UPDATE ${orders} SET parent_id = ${sql(made[Math.floor(at / 2)]!)}, changed = changed WHERE id = ${sql(id)}`,
      );
    }
    await source.query(
      `INSERT INTO ${lines} VALUES (${2 * at}, ${at % 3}, ${sql(id)}, ${other}, 1, '2023-01-01 00:00:00'), ` +
        `(${2 * at + 1}, ${at % 3}, ${sql(id)}, NULL, 2, '2023-01-01 00:00:00')`,
    );
    await source.query(`INSERT INTO tags VALUES (${sql(id)}, 'a'), (${sql(id)}, 'b')`);
    if (at % 5 > 0) continue;
    await source.query(`INSERT INTO bills VALUES (${sql(id)})`);
    await source.query(`INSERT INTO reminders VALUES (${at}, ${sql(id)})`);
  }
  return made;
}

/** Everything in the shop, with keys as the UUIDs that they are, or have been. */
export async function shopContent(source: DataSource, kind: DatabaseKind, uuid: 'id' | 'id_uuid'): Promise<unknown> {
  const { orders, orderId, lines } = shopNames(kind);
  const text = (name: string): string =>
    kind === 'postgres'
      ? `${name}.${uuid}::text`
      : `CASE WHEN LENGTH(${name}.${uuid}) = 16 THEN HEX(${name}.${uuid}) ELSE ${name}.${uuid} END`;
  const found: unknown[] = [];
  for (const sql of [
    `SELECT ${text('o')} AS a, ${text('p')} AS b, o.made, o.changed, o.tenant FROM ${orders} o LEFT JOIN ${orders} p ON p.id = o.parent_id ORDER BY o.made`,
    `SELECT l.id AS n, ${text('o')} AS a, ${text('p')} AS b, l.product, l.changed FROM ${lines} l JOIN ${orders} o ON o.id = l.${orderId} ` +
      `LEFT JOIN ${orders} p ON p.id = l.other ORDER BY l.id`,
    `SELECT ${text('o')} AS a, t.tag FROM tags t JOIN ${orders} o ON o.id = t.order_id ORDER BY o.made, t.tag`,
    `SELECT ${text('o')} AS a, r.id AS n FROM reminders r JOIN bills b ON b.id = r.bill JOIN ${orders} o ON o.id = b.id ORDER BY r.id`,
  ]) {
    found.push(await source.query(sql));
  }
  return found;
}

/** What the tables of the shop say of themselves, without the order of columns and the types of keys. */
export function shopDefinition(source: DataSource, kind: DatabaseKind): Promise<string[]> {
  const { orders, lines } = shopNames(kind);
  return definitionOf(source, kind, [orders, lines, 'tags', 'bills', 'reminders']);
}

/** The same of any tables, as SQL names them. */
export async function definitionOf(
  source: DataSource,
  kind: DatabaseKind,
  tables: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const table of tables) {
    if (kind === 'postgres') {
      const records = await source.query<{ line: string }[]>(
        "SELECT conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated AS line FROM pg_constraint WHERE conrelid = $1::regclass " +
          'UNION SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = $1::regclass ' +
          "UNION SELECT attname || ' ' || attnotnull FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped",
        [table],
      );
      found.push(...records.map(({ line }) => `${table}: ${line}`));
    } else {
      const [shown] = await source.query<Record<string, string>[]>(`SHOW CREATE TABLE ${table}`);
      found.push(
        ...shown!
          ['Create Table']!.split('\n')
          .map((line) => `${table}: ${line.replace(/,$/, '').replace(/ ON (UPDATE|DELETE) NO ACTION/g, '')}`),
      );
    }
  }
  return found.sort();
}
