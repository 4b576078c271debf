import { readFileSync, rmSync } from 'node:fs';
import { createPostgresControlClient } from '@prisma/orm-postgres/control';
import postgres, { type PostgresClient } from '@prisma/orm-postgres/runtime';
import { openIdService } from '@raindrop/node';
import { type KeyIds, snowflakes, type SnowflakesExtension, type SnowflakesOptions } from '@raindrop/orm/prisma-8';
import pg from 'pg';
import type { Upsert } from '../upsert.js';
import type { Contract } from './generated/postgres-BigInt/contract.js';

export type Form = 'text' | 'bigint' | 'number';
export type Key = string | bigint | number;

/** Which database a suite uses, as the tests name it. */
export interface Given {
  readonly database: {
    readonly type: 'postgres' | 'better-sqlite3';
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly password: string;
    readonly database: string;
  };
  /** The upserts of test/orms/upserts.ts. */
  readonly upserts: readonly Upsert[];
}

export type { Upsert };

export const given = JSON.parse(process.argv[2] ?? '{}') as Given;
export const { database } = given;
export const isPostgres = database.type === 'postgres';
export const target = isPostgres ? 'postgres' : 'sqlite';

const { host, port, username, password, database: name } = database;
const login = encodeURIComponent(username) + (password === '' ? '' : `:${encodeURIComponent(password)}`);
export const url = `postgres://${login}@${host}:${port}/${encodeURIComponent(name)}`;
/** For the ID service: a schema of its own, as docs/prisma-8.md shows it. */
export const dbConfig = `${url}?schema=raindrop`;

/** The types of all clients are taken to be those of PostgreSQL with keys as `BigInt`. */
export type Client = PostgresClient<Contract>;
/** The models, by their names. */
export type Models = Client['orm']['public'];
export type Tables = Client['sql']['public'];

const TYPES: Readonly<Record<Form, string>> = { text: 'String', bigint: 'BigInt', number: 'BigIntNumber' };

/** What `prisma contract emit` has written. */
export function contractOf(form: Form): unknown {
  const file = new URL(`../generated/${target}-${TYPES[form]}/contract.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

type Extension = SnowflakesExtension<'postgres'>;

/** The extension, for the database of the suite. */
export function extension(options: Partial<SnowflakesOptions>): Extension {
  return snowflakes({ target, ...options } as SnowflakesOptions<'postgres'>);
}

/** A client with these extensions and this middleware: with the extension in both of them unless they are given. */
export async function connect(
  form: Form,
  ids: KeyIds | Extension,
  { isGuarded = true }: { readonly isGuarded?: boolean } = {},
): Promise<Client> {
  const raindrop = 'nextId' in ids ? extension({ ids }) : ids;
  const options = { extensions: [raindrop], middleware: isGuarded ? [raindrop] : [] };
  const contractJson = contractOf(form);
  if (isPostgres) return postgres<Contract>({ contractJson, url, ...options });
  const { default: sqlite } = (await import('@prisma/orm-sqlite/runtime')) as unknown as {
    default: (options: object) => Client;
  };
  return sqlite({ contractJson, path: fileOf(form), ...options });
}

const fileOf = (form: Form): string => `${name}.${form}`;

/** SQLite has no schemas: the client has the models and tables at once. */
export const modelsOf = ({ orm }: Pick<Client, 'orm'>): Models =>
  isPostgres ? orm.public : (orm as unknown as Models);
export const tablesOf = ({ sql }: Pick<Client, 'sql'>): Tables =>
  isPostgres ? sql.public : (sql as unknown as Tables);

/** Makes the tables, as `prisma db init` does. */
export async function makeTables(form: Form): Promise<void> {
  const migrationsDir = new URL(`../generated/migrations`, import.meta.url).pathname;
  const contract = contractOf(form);
  const control = await controlOf(form);
  if (isPostgres) {
    await withSession((session) =>
      session.query(
        'drop schema if exists public cascade; drop schema if exists prisma_contract cascade; create schema public',
      ),
    );
  } else rmSync(fileOf(form), { force: true });
  try {
    const made = await control.dbInit({ contract, mode: 'apply', migrationsDir });
    if (!made.ok) throw new Error(JSON.stringify(made));
  } finally {
    await control.close();
  }
}

/** What the commands of Prisma use. */
export async function controlOf(form: Form): Promise<ReturnType<typeof createPostgresControlClient>> {
  const extensions = [extension({})];
  if (isPostgres) return createPostgresControlClient({ connection: url, extensions });
  const { createSqliteControlClient } = (await import('@prisma/orm-sqlite/control')) as unknown as {
    createSqliteControlClient: (options: object) => ReturnType<typeof createPostgresControlClient>;
  };
  return createSqliteControlClient({ connection: fileOf(form), extensions });
}

async function withSession<T>(use: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client(url);
  await session.connect();
  try {
    return await use(session);
  } finally {
    await session.end();
  }
}

/** Sends a query by the driver alone. */
export async function rowsOf(sql: string, form: Form): Promise<Record<string, string>[]> {
  if (isPostgres) return withSession(async (session) => (await session.query<Record<string, string>>(sql)).rows);
  const { DatabaseSync } = await import('node:sqlite');
  const file = new DatabaseSync(fileOf(form));
  try {
    return file.prepare(sql).all() as Record<string, string>[];
  } finally {
    file.close();
  }
}

/** Opens the service of an application: on PostgreSQL with a leased worker id. */
export async function openIds(layout: 'ids' | 'number' = 'ids'): ReturnType<typeof openIdService> {
  const options = layout === 'number' ? { layout, name: 'numbers' } : {};
  if (!isPostgres) return openIdService({ workerIdAssigner: 'static', workerId: 1, ...options });
  await withSession((session) => session.query('create schema if not exists raindrop'));
  return openIdService({ dbConfig, tableName: `raindrop_${layout}`, ...options });
}

/** Every ID that was issued, as decimal text. */
export interface NotedIds extends KeyIds {
  readonly issued: Set<string>;
}

export interface OpenShop {
  readonly db: Client;
  readonly form: Form;
  readonly ids: NotedIds;
  /** An ID as the form shows it. */
  shown(digits: string): Key;
  /** As the types want it, which are those of `BigInt`. */
  sent(digits: string): bigint;
  /** The keys of a table, as the database writes them. */
  stored(table?: string, column?: string): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens an ID service and the database with empty tables, whose keys are in the form. */
export async function openShop(form: Form): Promise<OpenShop> {
  const ids = await openIds(form === 'number' ? 'number' : 'ids');
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
  await makeTables(form);
  const db = await connect(form, noted);
  const stored = async (table = 'Order', column = 'id'): Promise<string[]> =>
    (await rowsOf(`select cast("${column}" as text) as digits from "${table}" order by "${column}"`, form)).map(
      ({ digits }) => digits!,
    );
  const close = async (): Promise<void> => {
    await db.close();
    await ids.close();
  };
  const shown = { text: String, bigint: BigInt, number: Number }[form];
  return { db, form, ids: noted, shown, sent: (digits) => shown(digits) as bigint, stored, close };
}

let names = 0;
/** Another name each time. */
export const fresh = (): string => `name ${++names}`;

/** The code of an error of ours, of Prisma, or of the database. */
export function codeOf(error: unknown): string {
  const { errorCode, why, code, message, sqlState, cause } = error as Error &
    Record<'errorCode' | 'why' | 'code' | 'sqlState', string | undefined>;
  if (errorCode !== undefined) return why === undefined ? errorCode : `${errorCode} ${why}`;
  if (sqlState === '23502' || message.includes('NOT NULL constraint failed')) return 'NOT NULL';
  if (sqlState === '23505' || message.includes('UNIQUE constraint failed')) return 'duplicate key';
  if (cause !== undefined && code !== undefined && code.startsWith('RUNTIME.ENCODE')) {
    const inner = codeOf(cause);
    if (inner.startsWith('INSERT_REFUSED')) return inner;
  }
  return code ?? String(error);
}

/** What some work returns, or the code of its error. */
export async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return codeOf(error);
  }
}
