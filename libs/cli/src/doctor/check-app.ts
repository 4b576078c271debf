import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPromise } from 'node:util/types';
import type { Layout } from '@raindrop/core';
import { Deadline } from '@raindrop/core/internal';
import { closeOpenedServices, isMissingPackage, systemPorts } from '@raindrop/node/internal';
import { InputError } from '../input-error.js';
import { withoutSecrets } from '../io/text.js';
import { fail, type Finding, ok, warn } from './checks.js';

/** How long the application's module may take to load, ms: it may connect meanwhile. */
const LOAD_MS = 60_000;

/** How long one of its databases may take to connect and to answer, and to close, ms. */
const CHECK_MS = 20_000;

const CHECK = 'precision';

/** Loads a module as the application does. */
type Require = ReturnType<typeof createRequire>;

/** The exports of a module, or one of them that is an object. */
type Exported = Readonly<Record<string, unknown>>;

/** The `checkPrecision()` of one of our packages. */
type CheckPrecision = (
  database: unknown,
  options: { readonly layout?: unknown; readonly schema?: Exported },
) => Promise<{ readonly exact: readonly string[]; readonly warnings: readonly string[] }>;

/** An ORM: how to recognize, open and close its databases. */
interface Orm {
  readonly title: string;
  /** The entries of our packages that check its databases. The first one that is installed does. */
  readonly entries: readonly string[];
  isOne(value: Exported): boolean;
  open?(value: Exported): Promise<unknown>;
  close(value: Exported): unknown;
}

const ORMS: readonly Orm[] = [
  {
    title: 'TypeORM',
    entries: ['@raindrop/typeorm', '@raindrop/nestjs/typeorm'],
    isOne: (value) => value['@instanceof'] === Symbol.for('DataSource'),
    open: async (dataSource) => {
      if (dataSource['isInitialized'] === true) return;
      // The check changes nothing in the database.
      call(dataSource, 'setOptions', { synchronize: false, dropSchema: false, migrationsRun: false });
      await call(dataSource, 'initialize');
    },
    close: (dataSource) => (dataSource['isInitialized'] === true ? call(dataSource, 'destroy') : undefined),
  },
  {
    title: 'Kysely',
    entries: ['@raindrop/orm/kysely'],
    isOne: (value) => has(value, 'getExecutor', 'selectFrom', 'destroy'),
    close: (db) => call(db, 'destroy'),
  },
  {
    title: 'Drizzle',
    entries: ['@raindrop/orm/drizzle'],
    isOne: (value) => has(value, 'select', 'insert') && Symbol.for('drizzle:entityKind') in Object(value.constructor),
    close: ({ $client }) => closeClient($client),
  },
  {
    title: 'MikroORM',
    entries: ['@raindrop/orm/mikro-orm'],
    isOne: (value) => has(value, 'getMetadata', 'close') && 'em' in value && 'config' in value,
    open: async (orm) => {
      if (has(orm, 'connect')) await call(orm, 'connect');
    },
    close: (orm) => call(orm, 'close', true),
  },
  {
    title: 'Sequelize',
    entries: ['@raindrop/orm/sequelize'],
    isOne: (value) => has(value, 'define', 'getQueryInterface', 'close'),
    close: (sequelize) => call(sequelize, 'close'),
  },
  {
    title: 'Prisma',
    entries: ['@raindrop/orm/prisma'],
    isOne: (value) => has(value, '$extends', '$queryRawUnsafe', '$disconnect'),
    close: (client) => call(client, '$disconnect'),
  },
];

/** One of the application's databases. */
interface AppDatabase {
  /** As the module exports it: `db (Kysely)`. */
  readonly name: string;
  readonly value: Exported;
  readonly orm: Orm;
}

/**
 * Loads a module of the application, does the work, and closes the databases that it exports and the services that it
 * has opened.
 * @param work is given the check of these databases, which takes the layout of the IDs, where that is known
 * @throws InputError when the module cannot be loaded, or exports no database of an ORM; what the work throws
 */
export async function withApp<T>(
  path: string,
  work: (check: (layout: Layout | undefined) => Promise<Finding[]>) => Promise<T>,
): Promise<T> {
  const file = resolve(path);
  let databases: readonly AppDatabase[] = [];
  try {
    const exported = await exportsOf(path, file);
    databases = databasesOf(exported);
    if (databases.length === 0) {
      const names = Object.keys(exported).join(', ') || 'nothing';
      throw new InputError(
        `--app ${path} exports no DataSource of TypeORM, no Kysely, no database of Drizzle, no MikroORM, no Sequelize and no client of Prisma; it exports ${names}`,
      );
    }
    const require = createRequire(file);
    return await work(async (layout) => {
      const findings: Finding[] = [];
      for (const each of databases)
        findings.push(...(await checkDatabase(each, { layout, schema: exported }, require)));
      return findings;
    });
  } finally {
    await Promise.all(databases.map(({ orm, value }) => closed(async () => await orm.close(value))));
    await closed(closeOpenedServices);
  }
}

/** @throws InputError when it is not there, cannot be loaded, or takes too long */
async function exportsOf(path: string, file: string): Promise<Exported> {
  if (!existsSync(file) || !statSync(file).isFile()) {
    throw new InputError(`--app ${path}: there is no such file. Name the compiled module, such as ./dist/db.js`);
  }
  try {
    return await within(LOAD_MS, async () => settled((await import(pathToFileURL(file).href)) as Exported));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_UNKNOWN_FILE_EXTENSION' ? 'Node cannot load it: compile it first' : reasonOf(error);
    throw new InputError(`--app ${path} cannot be loaded: ${reason}`);
  }
}

/** The exports, also those of CommonJS, with the values of promises. A query of Drizzle is thenable, and would run. */
async function settled(exported: Exported): Promise<Exported> {
  const { default: main, ...named } = exported;
  const isCommonJs = typeof main === 'object' && main !== null && Object.getPrototypeOf(main) === Object.prototype;
  const all = Object.entries({ ...(isCommonJs ? main : main !== undefined && { default: main }), ...named });
  return Object.fromEntries(
    await Promise.all(all.map(async ([name, value]) => [name, isPromise(value) ? await value : value] as const)),
  );
}

function databasesOf(exported: Exported): AppDatabase[] {
  const seen = new Set<unknown>();
  return Object.entries(exported).flatMap(([name, value]) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return [];
    seen.add(value);
    const orm = ORMS.find((each) => each.isOne(value as Exported));
    return orm === undefined ? [] : [{ name: `${name} (${orm.title})`, value: value as Exported, orm }];
  });
}

async function checkDatabase(
  { name, value, orm }: AppDatabase,
  { layout, schema }: { readonly layout: Layout | undefined; readonly schema: Exported },
  require: Require,
): Promise<Finding[]> {
  const check = checkOf(orm, require);
  if (check === undefined) {
    const [entry] = orm.entries;
    const packageName = entry!.split('/', 2).join('/');
    const cure = `install ${packageName} there, from where @raindrop/cli came`;
    return [warn(CHECK, `${name}: ${entry} is not installed there`, cure)];
  }
  // TypeORM takes IDs of 63 bits where no layout is known.
  const known = layout ?? (orm.title === 'TypeORM' ? undefined : { bits: 63 });
  try {
    const { exact, warnings } = await within(CHECK_MS, async () => {
      await orm.open?.(value);
      return check(value, { ...(known !== undefined && { layout: known }), schema });
    });
    const digits =
      exact.length === 0 ? 'no key is a bigint in the database' : `IDs keep their digits: ${exact.join(', ')}`;
    return [
      ...(exact.length > 0 || warnings.length === 0 ? [ok(CHECK, `${name}: ${digits}`)] : []),
      ...warnings.map((each) => ({ check: CHECK, state: 'warn' as const, detail: `${name}: ${each}` })),
    ];
  } catch (error) {
    return failures(name, error);
  }
}

/** @returns undefined when none of the entries is installed where the application is */
function checkOf({ entries }: Orm, require: Require): CheckPrecision | undefined {
  for (const entry of entries) {
    try {
      const { checkPrecision } = require(entry) as { checkPrecision?: CheckPrecision };
      if (checkPrecision !== undefined) return checkPrecision;
    } catch (error) {
      if (!isMissingPackage(error, entry)) throw error;
    }
  }
  return undefined;
}

function failures(name: string, error: unknown): Finding[] {
  const { problem, problems, cure, errorCode } = error as Partial<Failure>;
  if (problem !== undefined && cure !== undefined) return [fail(CHECK, `${name}: ${problem}`, cure)];
  if (errorCode === 'ENTITY_LINT') {
    return problems!.map((each) => fail(CHECK, `${name}: ${each.entity}.${each.property}: ${each.problem}`, each.cure));
  }
  if (errorCode === 'CONFIGURATION') {
    const remedy = 'export its tables too, or a database that has such keys';
    return [warn(CHECK, `${name}: ${reasonOf(error)}`, remedy)];
  }
  return [fail(CHECK, `${name}: ${reasonOf(error)}`, 'let this host reach the database that the application names')];
}

/** The fields of `RoundedIdsError`, and of TypeORM's `EntityLintError`. */
interface Failure {
  readonly errorCode: string;
  readonly problem: string;
  readonly cure: string;
  readonly problems: readonly Readonly<Record<'entity' | 'property' | 'problem' | 'cure', string>>[];
}

/** A driver's error may have an empty message, and a code. */
function reasonOf(error: unknown): string {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  return withoutSecrets(message || code || String(error));
}

function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return new Deadline(ms, systemPorts('exact').timers, undefined, 'foreground').run(work);
}

/** A failure to close is no finding. */
async function closed(close: () => Promise<unknown>): Promise<void> {
  await within(CHECK_MS, close).catch(() => undefined);
}

/** A pool or a connection of the drivers that Drizzle knows. */
function closeClient(client: unknown): unknown {
  if (typeof client !== 'object' || client === null) return undefined;
  const name = ['end', 'close'].find((each) => has(client as Exported, each));
  return name === undefined ? undefined : call(client as Exported, name);
}

function has(value: Exported, ...methods: readonly string[]): boolean {
  return methods.every((name) => typeof value[name] === 'function');
}

function call(value: Exported, method: string, ...args: readonly unknown[]): unknown {
  return (value[method] as (...args: readonly unknown[]) => unknown).apply(value, [...args]);
}
