import { openIdService, type IdService } from '@raindrop/node';
import { withSnowflakes, type KeyIds, type SnowflakeColumns } from '@raindrop/orm/kysely';
import Sqlite from 'better-sqlite3';
import * as kysely from 'kysely';
import * as mysqlHelpers from 'kysely/helpers/mysql';
import * as postgresHelpers from 'kysely/helpers/postgres';
import * as sqliteHelpers from 'kysely/helpers/sqlite';
import * as formerKysely from 'kysely-0.28';
import * as formerMysqlHelpers from 'kysely-0.28/helpers/mysql';
import * as formerPostgresHelpers from 'kysely-0.28/helpers/postgres';
import * as formerSqliteHelpers from 'kysely-0.28/helpers/sqlite';
import mysql from 'mysql2';
import { createRequire } from 'node:module';
import pg from 'pg';
import type { Upsert } from '../upsert.js';

export type Form = 'text' | 'bigint' | 'number';
export type Key = string | bigint | number;

export interface Shop {
  customers: { id: kysely.Generated<Key>; name: string };
  orders: { id: kysely.Generated<Key>; customer_id: Key | null; title: kysely.Generated<string> };
}

/** Which database a suite uses, as the tests name it, and which Kysely. */
export interface Given {
  readonly database: {
    readonly type: 'mariadb' | 'postgres' | 'better-sqlite3';
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly password: string;
    readonly database: string;
  };
  readonly release: '0.28' | '0.29';
  /** The upserts of test/orms/upserts.ts. */
  readonly upserts: readonly Upsert[];
  /** Whether the keys have a default in the database. */
  readonly databaseDefault?: boolean;
}

export type { Upsert };

export const given = JSON.parse(process.argv[2] ?? '{}') as Given;
export const { database, release } = given;
export const type = database.type;
const isFormer = release === '0.28';

/** The Kysely of this run. The types of both releases fit what the suites use; types.ts compiles against each. */
export const { CamelCasePlugin, Kysely, MysqlDialect, ParseJSONResultsPlugin, PostgresDialect, SqliteDialect, sql } =
  isFormer ? (formerKysely as unknown as typeof kysely) : kysely;

export const { jsonArrayFrom } = {
  mariadb: isFormer ? (formerMysqlHelpers as unknown as typeof mysqlHelpers) : mysqlHelpers,
  postgres: isFormer ? (formerPostgresHelpers as unknown as typeof postgresHelpers) : postgresHelpers,
  'better-sqlite3': isFormer ? (formerSqliteHelpers as unknown as typeof sqliteHelpers) : sqliteHelpers,
}[type];

/** An ID as the form shows it. */
export const shown: Readonly<Record<Form, (text: string) => Key>> = { text: String, bigint: BigInt, number: Number };

const cursor = createRequire(import.meta.url)('pg-cursor') as kysely.PostgresCursorConstructor;
const INT8: number = pg.types.builtins.INT8;

/** A dialect whose driver delivers keys in the form; undefined: as the driver does by itself. */
export function plainDialect(form?: Form): kysely.Dialect {
  const { host, port, username: user, password, database: name } = database;
  if (type === 'mariadb') {
    return new MysqlDialect({
      pool: mysql.createPool({
        host,
        port,
        user,
        password,
        database: name,
        ...(form === 'text' && { supportBigNumbers: true, bigNumberStrings: true }),
        ...(form === 'bigint' && {
          typeCast: (field: mysql.TypeCastField, next: mysql.TypeCastNext) => {
            if (field.type !== 'LONGLONG') return next();
            const text = field.string();
            return text === null ? null : BigInt(text);
          },
        }),
      }),
    });
  }
  if (type === 'postgres') {
    const parse = form === 'bigint' || form === 'number' ? shown[form] : undefined;
    const types: pg.CustomTypesConfig = {
      getTypeParser: (id, format): unknown =>
        (id as number) === INT8 && parse !== undefined ? parse : (pg.types.getTypeParser(id, format) as unknown),
    };
    return new PostgresDialect({ pool: new pg.Pool({ host, port, user, password, database: name, types }), cursor });
  }
  const file = new Sqlite(name);
  file.pragma('journal_mode = WAL');
  if (form === 'bigint') file.defaultSafeIntegers(true);
  return new SqliteDialect({ database: file });
}

/** For the ID service. */
export const dbConfig =
  database.type === 'better-sqlite3' ? { type: database.type, database: database.database } : database;

export interface OpenShop {
  readonly db: kysely.Kysely<Shop>;
  /** Every ID that was issued, as decimal text. */
  readonly issued: ReadonlySet<string>;
  /** The service of the keys. */
  readonly ids: IdService;
  close(): Promise<void>;
}

const AS = { text: 'string', bigint: 'bigint', number: 'number' } as const;

/** Opens an ID service and the database with empty tables, whose keys are in the form. */
export async function openShop(form: Form): Promise<OpenShop> {
  const { databaseDefault = false } = given;
  const ids = await openIdService({
    dbConfig,
    ...(form === 'number' && { layout: 'number', name: 'numbers', tableName: 'raindrop_numbers' }),
  });
  const { columns, issued, source } = noted(ids);
  const db = new Kysely<Shop>({
    dialect: withSnowflakes(plainDialect(form), { ids: source, as: AS[form], columns, databaseDefault }),
    plugins: type === 'postgres' ? [] : [new ParseJSONResultsPlugin()],
  });
  const key = type === 'better-sqlite3' && form === 'text' ? sql`text` : sql`bigint`;
  const byDefault = databaseDefault ? sql`default raindrop_id()` : sql``;
  await sql`drop table if exists orders`.execute(db);
  await sql`drop table if exists customers`.execute(db);
  await sql`create table customers (id ${key} not null primary key ${byDefault}, name varchar(50) not null)`.execute(
    db,
  );
  await sql`create table orders (id ${key} not null primary key ${byDefault}, customer_id ${key},
    title varchar(50) not null default 'untitled' unique)`.execute(db);
  const close = async (): Promise<void> => {
    await db.destroy();
    await ids.close();
  };
  return { db, issued, ids, close };
}

function noted(ids: IdService): {
  columns: SnowflakeColumns['columns'];
  issued: Set<string>;
  source: NonNullable<SnowflakeColumns['ids']>;
} {
  const issued = new Set<string>();
  const nextId = (code?: string): bigint => {
    const id = ids.nextId(code);
    issued.add(id.toString());
    return id;
  };
  return {
    columns: { orders: ['id'], customers: ['id'] },
    issued,
    source: {
      nextId,
      nextString: (code) => nextId(code).toString(),
      nextStrings: (count, code) => Array.from({ length: count }, () => nextId(code).toString()),
      nextIdsAsync: async (count, code) => {
        const taken = await ids.nextIdsAsync(count, code);
        for (const id of taken) issued.add(id.toString());
        return taken;
      },
    },
  };
}

/** The code of an error of ours or of a driver. */
export function codeOf(error: unknown): string {
  const { errorCode, why, code } = error as { errorCode?: string; why?: string; code?: string };
  if (NOT_NULL.includes(code ?? '')) return 'NOT NULL';
  if (DUPLICATE.includes(code ?? '')) return 'duplicate key';
  if (errorCode === undefined) return `database error ${code ?? String(error)}`;
  return why === undefined ? errorCode : `${errorCode} ${why}`;
}

const DUPLICATE = ['ER_DUP_ENTRY', '23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'];
const NOT_NULL = ['ER_NO_DEFAULT_FOR_FIELD', '23502', 'SQLITE_CONSTRAINT_NOTNULL'];

let titles = 0;
/** Of an order, another one each time. */
export const title = (): string => `title ${++titles}`;

const opened: { destroy(): Promise<void> }[] = [];

/** A Kysely that {@link closeAll} closes. */
export function kyselyOn<T = Shop>(config: kysely.KyselyConfig): kysely.Kysely<T> {
  const made = new Kysely<T>(config);
  opened.push(made);
  return made;
}

export async function closeAll(): Promise<void> {
  for (const each of opened.splice(0)) await each.destroy();
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

/** What some work returns, or the code of its error. */
export async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return codeOf(error);
  }
}
