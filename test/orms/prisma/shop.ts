import { openIdService } from '@raindrop/node';
import { type KeyIds, type SnowflakeFields, snowflakes, type SnowflakesExtension } from '@raindrop/orm/prisma';
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Upsert } from '../upsert.js';
import * as postgres from './generated/postgresql-BigInt/client/client.js';

export type Form = 'text' | 'bigint' | 'number';
export type Key = string | bigint | number;

/** Which database a suite uses, as the tests name it. */
export interface Given {
  readonly database: {
    readonly type: 'mariadb' | 'postgres' | 'better-sqlite3';
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly password: string;
    readonly database: string;
  };
  /** The upserts of test/orms/upserts.ts. */
  readonly upserts: readonly Upsert[];
  /** Whether the keys have a default in the database. */
  readonly databaseDefault?: boolean;
}

export type { Upsert };

export const given = JSON.parse(process.argv[2] ?? '{}') as Given;
export const { database } = given;
export const type = database.type;
const provider = { mariadb: 'mysql', postgres: 'postgresql', 'better-sqlite3': 'sqlite' }[type];

/** The types of all clients are taken to be those of PostgreSQL with keys as `BigInt`. */
export type Client = postgres.PrismaClient;
export const { skip } = postgres.Prisma as unknown as { skip: undefined };

/** For the ID service. */
export const dbConfig =
  database.type === 'better-sqlite3' ? { type: database.type, database: database.database } : database;

/** `joins` loads relations in one query, where the database has that. `declared` has a function as the default of each key. */
type Generated = 'client' | 'joins' | 'declared';

const USUAL: Generated = given.databaseDefault === true ? 'declared' : 'client';

/** A client of its own. */
export async function connect(form: Form, generated = USUAL): Promise<Client> {
  const Generated = await clientOf(form, generated);
  return new Generated({ adapter: adapter() });
}

/** The class of a generated client. */
export async function clientOf(form: Form, generated: Generated = 'client'): Promise<typeof postgres.PrismaClient> {
  const key = form === 'text' ? 'String' : 'BigInt';
  const module = (await import(`./generated/${provider}-${key}/${generated}/client.js`)) as typeof postgres;
  return module.PrismaClient;
}

/** @param options of the driver; SQLite has none */
export function adapter(options: object = {}): PrismaPg | PrismaMariaDb | PrismaBetterSqlite3 {
  const { host, port, username: user, password, database: name } = database;
  if (type === 'better-sqlite3') return new PrismaBetterSqlite3({ url: `file:${name}` });
  const address = { host, port: Number(port), user, password, database: name, ...options };
  return type === 'postgres' ? new PrismaPg(address) : new PrismaMariaDb({ ...address, allowPublicKeyRetrieval: true });
}

/** Quotes the names of the tables and columns in a statement, which are written `"so"`. */
export function quoted(statement: string): string {
  return type === 'mariadb' ? statement.replaceAll('"', '`') : statement;
}

/** Makes empty tables, as `prisma migrate` would: texts in SQLite; elsewhere a text field is of a bigint column. */
export async function makeTables(client: Client, form: Form): Promise<void> {
  const text = type === 'mariadb' ? 'varchar(191)' : 'text';
  const key = form === 'text' && type === 'better-sqlite3' ? text : 'bigint';
  const byDefault = given.databaseDefault === true ? 'default raindrop_id()' : '';
  const id = `id ${key} not null primary key ${byDefault}`;
  const typed = type === 'mariadb' ? 'varchar(40) character set ascii collate ascii_bin not null' : 'text not null';
  const former = ['_OrderToTag', 'Line', 'Order', 'Profile', 'Customer', 'Tag', 'Bare', 'Typed', 'Legacy'];
  for (const table of [...former, 'Item', 'parcels', 'Depot', 'Entry', 'Account']) {
    await client.$executeRawUnsafe(quoted(`drop table if exists "${table}"`));
  }
  for (const table of [
    `"Customer" (${id}, email ${text} not null unique, name ${text}, "bossId" ${key} references "Customer" (id))`,
    `"Profile" (${id}, data ${text} not null unique, "customerId" ${key} not null unique references "Customer" (id))`,
    `"Order" (${id}, number ${text} not null unique, "customerId" ${key} references "Customer" (id), data ${json()})`,
    `"Line" (${id}, name ${text} not null, "orderId" ${key} not null references "Order" (id))`,
    `"Tag" (${id}, name ${text} not null unique)`,
    `"_OrderToTag" ("A" ${key} not null references "Order" (id), "B" ${key} not null, unique ("A", "B"))`,
    `"Bare" (${id})`,
    `"Typed" (id varchar(40) not null primary key, "publicId" ${key} not null, other ${text}, uuid ${text} not null)`,
    `"Legacy" (id varchar(40) not null primary key)`,
    `"Account" ("tenantId" ${typed}, id ${typed}, code ${typed}, uses integer not null, primary key ("tenantId", id),
      unique ("tenantId", code))`,
    `"Entry" (id ${typed} primary key, "tenantId" ${typed}, "accountId" ${typed},
      foreign key ("tenantId", "accountId") references "Account" ("tenantId", id))`,
    `"Depot" (id ${counted()})`,
    `parcels (parcel_id ${key} not null primary key, parcel_number ${text} not null unique, depot_id integer)`,
    `"Item" ("parcelId" ${key} not null, id ${key} not null, "publicId" ${key}, primary key ("parcelId", id),
      foreign key ("parcelId") references parcels (parcel_id))`,
  ]) {
    await client.$executeRawUnsafe(quoted(`create table ${table}`));
  }
}

/** The type of a key that the database counts. */
function counted(): string {
  if (type === 'postgres') return 'serial primary key';
  return `integer primary key ${type === 'mariadb' ? 'auto_increment' : 'autoincrement'}`;
}

function json(): string {
  return type === 'mariadb' ? 'json' : 'jsonb';
}

/** Every ID that was issued, as decimal text. */
export interface NotedIds extends KeyIds {
  readonly issued: Set<string>;
}

export interface OpenShop {
  /** With the extension. */
  readonly db: Client;
  /** Without it. */
  readonly plain: Client;
  readonly form: Form;
  readonly ids: NotedIds;
  /** An ID as the form shows it. */
  shown(digits: string): Key;
  /** An ID as the client is given it: keys that are shown as numbers are BigInt to Prisma. */
  sent(id: Key): bigint;
  /** The keys of a table, as the database writes them. */
  stored(table?: string, column?: string): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens an ID service and the database with empty tables, whose keys are in the form. */
export async function openShop(form: Form): Promise<OpenShop> {
  const ids = await openIdService({
    dbConfig,
    ...(form === 'number' && { layout: 'number', name: 'numbers', tableName: 'raindrop_numbers' }),
  });
  const issued = new Set<string>();
  const nextId = (code?: string): bigint => {
    const id = ids.nextId(code);
    issued.add(String(id));
    return id;
  };
  const noted: NotedIds = {
    issued,
    nextId,
    nextString: (code) => String(nextId(code)),
    nextIdsAsync: async (count, code) => {
      const taken = await ids.nextIdsAsync(count, code);
      for (const id of taken) issued.add(String(id));
      return taken;
    },
  };
  const plain = await connect(form);
  await makeTables(plain, form);
  const stored = async (table = 'Order', column = 'id'): Promise<string[]> => {
    const as = type === 'mariadb' ? 'char' : 'text';
    const statement = `select cast("${column}" as ${as}) as digits from "${table}" order by "${column}"`;
    const rows = await plain.$queryRawUnsafe<{ digits: string }[]>(quoted(statement));
    return rows.map(({ digits }) => digits);
  };
  const close = async (): Promise<void> => {
    await plain.$disconnect();
    await ids.close();
  };
  const shown = { text: String, bigint: BigInt, number: Number }[form];
  const sent = (id: Key): bigint => (form === 'text' ? (id as unknown as bigint) : BigInt(id));
  return { db: extended(plain, noted, form), plain, form, ids: noted, shown, sent, stored, close };
}

/** As docs/prisma.md shows it: keys in the layout `number` become numbers by an extension of the results. */
export function extended(client: Client, ids: KeyIds, form: Form): Client {
  const filling = client.$extends(snowflakes(ids));
  const id = { needs: { id: true }, compute: ({ id }: { id: bigint }): number => Number(id) } as const;
  return (form === 'number'
    ? filling.$extends({ result: { order: { id }, customer: { id }, line: { id }, tag: { id }, bare: { id } } })
    : filling) as unknown as Client;
}

let names = 0;
/** Another name each time. */
export const fresh = (): string => `name ${++names}`;

/** The code of an error of ours, of Prisma, or of a driver. */
export function codeOf(error: unknown): string {
  const { errorCode, why, code, name, message } = error as Error &
    Record<'errorCode' | 'why' | 'code', string | undefined>;
  if (errorCode !== undefined) return why === undefined ? errorCode : `${errorCode} ${why}`;
  if (/Code: `(23502|1364|SQLITE_CONSTRAINT_NOTNULL)`|Null constraint violation/.test(message)) return 'NOT NULL';
  if (name === 'PrismaClientValidationError') return 'by Prisma';
  return code === 'P2002' ? 'duplicate key' : (code ?? String(error));
}

/** What some work returns, or the code of its error. */
export async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return codeOf(error);
  }
}

/** IDs that no number holds, each with the code that it was asked for. */
export function countedIds(): KeyIds & { readonly codes: (string | undefined)[] } {
  const codes: (string | undefined)[] = [];
  let last = 2n ** 55n;
  const nextId = (code?: string): bigint => {
    codes.push(code);
    return (last += 3n);
  };
  return { codes, nextId, nextString: (code) => nextId(code).toString() };
}

export type { SnowflakeFields, SnowflakesExtension };
export { snowflakes };
