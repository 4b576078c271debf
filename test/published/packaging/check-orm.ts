import { strict as assert } from 'node:assert';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isOldNode, nodeIn, OWN_NODE } from '../../orms/suite.js';
import { run } from '../../support/processes/run.js';
import { AptInstall } from '../../support/servers/apt-install.js';
import { createDatabase } from '../../support/servers/database-admin.js';
import { obtainServer } from '../../support/servers/obtain-server.js';
import { runCommand } from '../../support/servers/run-command.js';
import { serverAddress } from '../../support/servers/server-address.js';
import { serverFacts } from '../../support/servers/server-kind.js';
import { type RunSql, withPostgresSession } from '../../support/servers/sql-session.js';
import { waysTo } from '../../support/servers/ways.js';
import { readDocument, typescriptBlocks } from '../docs/typescript-blocks.js';

const ROOT = resolve(__dirname, '../../..');
const PROGRAM_MS = 600_000;
const SQL_MS = 30_000;
const NPM_FLAGS = [
  ...['--strict-peer-deps', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
];
/** What looks at the example, as this repository has it. */
const TOOLS = ['typescript', '@types/node', '@types/pg'];

/** An application of one ORM: what its page in docs shows, and a few lines behind it that look at what became of it. */
interface OrmApp {
  /** Its entry in @raindrop/orm, its page in docs, and its folder in test/orms. */
  readonly name: string;
  /** A function of the entry. */
  readonly offers: string;
  /** Makes the tables, where the example has them. */
  readonly tables: readonly string[];
  readonly table: string;
  /** Runs in the folder of the application before the compiler. */
  readonly generate?: readonly [string, ...string[]];
  /** Stands in the example before it closes. Its last line prints the IDs of all orders, as the application reads them. */
  readonly after: string;
}

export const ormApps: readonly OrmApp[] = [
  {
    name: 'kysely',
    offers: 'withSnowflakes',
    tables: ['create table orders (id bigint not null primary key, customer text not null)'],
    table: 'orders',
    after: `
const stored: { id: string }[] = await db.selectFrom('orders').select('id').execute();
if (stored[0]!.id !== id) throw new Error('the insert has told another ID');
console.log(JSON.stringify(stored.map((each) => each.id)));
`,
  },
  {
    name: 'drizzle',
    offers: 'snowflake',
    tables: [
      'create table orders (id bigint not null primary key, customer text not null)',
      'create table lines (id bigint not null primary key, "orderId" bigint not null references orders)',
    ],
    table: 'orders',
    after: `
await db.insert(lines).values({ orderId: order!.id });
const stored: { id: string }[] = await db.select({ id: lines.orderId }).from(lines);
console.log(JSON.stringify(stored.map((each) => each.id)));
`,
  },
  {
    name: 'prisma',
    offers: 'snowflakes',
    tables: [
      'create table "Order" (id bigint not null primary key, customer text not null)',
      'create table "Line" (id bigint not null primary key, name text not null, "orderId" bigint not null)',
    ],
    table: '"Line"',
    generate: ['npx', 'prisma', 'generate'],
    after: `
const stored = await prisma.line.findMany({ where: { orderId: order.id }, orderBy: { id: 'asc' } });
console.log(JSON.stringify(stored.map(({ id }) => String(id))));
`,
  },
  {
    name: 'mikro-orm',
    offers: 'SnowflakePrimaryKey',
    tables: [],
    table: '"order"',
    after: `
await orm.schema.create();
const bob: string = await orm.em.fork().insert(Order, { customer: 'Bob' });
const cleo = orm.em.fork();
cleo.create(Order, { customer: 'Cleo' });
await cleo.flush();
const stored: { id: string }[] = await orm.em.fork().find(Order, {}, { orderBy: { id: 'asc' } });
if (stored[0]!.id !== bob) throw new Error('the insert has told another ID');
console.log(JSON.stringify(stored.map((each) => each.id)));
`,
  },
  {
    name: 'sequelize',
    offers: 'snowflakeKey',
    tables: [],
    table: '"Orders"',
    after: `
const many = await Order.bulkCreate([{ customer: 'Bob' }, { customer: 'Cleo' }], { fields: ['customer'] });
const stored = await Order.findAll({ order: [['id', 'asc']] });
if (stored[2]!.id !== many[1]!.id) throw new Error('the insert has told another ID');
console.log(JSON.stringify(stored.map((each) => each.id)));
`,
  },
];

/** What is used of a packed library. */
export interface PackedLibrary {
  readonly manifest: { readonly name: string };
  readonly tarball: string;
}

/**
 * A fresh application outside the workspace: the tarballs and the ORM installed as docs/write-paths.md says, the example of that
 * document compiled as it stands there, and run on a PostgreSQL.
 * @returns what is wrong
 */
export async function checkOrm(
  app: OrmApp,
  packages: readonly PackedLibrary[],
  directory: string,
): Promise<readonly string[]> {
  const folder = join(directory, `orm-${app.name}`);
  try {
    await install(app, packages, folder);
    const node = nodeIn(folder);
    if (app.generate !== undefined) {
      // In place of the engine for migrations, which Prisma would fetch.
      const environment = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
      const [program, ...args] = app.generate;
      await runCommand(program, args, { cwd: folder, withinMs: PROGRAM_MS, environment });
    }
    await compile(node, folder);
    const required = `assert.equal(typeof require('@raindrop/orm/${app.name}').${app.offers}, 'function')`;
    await runCommand(node, ['--input-type=commonjs', '-e', required], { cwd: folder, withinMs: PROGRAM_MS });
    await onPostgres(async (url, sql) => {
      for (const table of app.tables) await sql(table);
      const options = { cwd: folder, withinMs: PROGRAM_MS, environment: { DATABASE_URL: url } };
      const printed = await runCommand(node, ['dist/main.js'], options);
      const ids = JSON.parse(printed.trimEnd().split('\n').at(-1)!) as string[];
      const rows = await sql(`select cast(id as text) as id from ${app.table} order by id`);
      assert.deepEqual(
        ids,
        rows.map(({ id }) => id),
      );
      assert.ok(ids.length > 0 && ids.every((id) => /^\d{17,19}$/.test(id)), `no IDs of ours: ${ids.join()}`);
    });
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

async function install(app: OrmApp, packages: readonly PackedLibrary[], folder: string): Promise<void> {
  const page = readDocument(`docs/${app.name}.md`);
  const [example] = typescriptBlocks(page);
  mkdirSync(join(folder, 'src'), { recursive: true });
  const [work, close] = example!.split(/^(?=await ids\.close\(\);)/m);
  writeFileSync(join(folder, 'src/main.ts'), `${work!}${app.after}${close!}`);
  const schema = /^```prisma\n([^]*?)^```$/m.exec(page)?.[1];
  if (schema !== undefined) {
    mkdirSync(join(folder, 'prisma'));
    writeFileSync(join(folder, 'prisma/schema.prisma'), schema);
  }
  writeJson(join(folder, 'package.json'), { name: `orm-${app.name}`, private: true, type: 'module' });
  writeJson(join(folder, 'tsconfig.json'), { compilerOptions: COMPILER_OPTIONS, include: ['src'] });

  // What they take of each other is not published either.
  const tarballs = new Map(packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]));
  const line = /^npm install (.+)$/m.exec(page)![1]!;
  // The suite's release in place of the page's, as of `prisma@7`.
  const named = line.split(' ').map((name) => name.replace(/(.)@[^@/]*$/, '$1'));
  const versions = versionsOf(app);
  const node = isOldNode && versions.has(OWN_NODE) ? [OWN_NODE] : [];
  const wanted = [...named, '@raindrop/core', '@raindrop/node', '@raindrop/orm', ...TOOLS, ...node].map(
    (name) => tarballs.get(name) ?? `${name}@${versions.get(name) ?? versionHere(name)}`,
  );
  await runCommand('npm', ['install', ...NPM_FLAGS, ...wanted], { cwd: folder, withinMs: PROGRAM_MS });
}

/** Looks at the declarations of our libraries as well. Those of Drizzle and MikroORM have errors of their own. */
async function compile(node: string, folder: string): Promise<void> {
  const command = [node, 'node_modules/typescript/bin/tsc', '-p', '.', '--pretty', 'false'] as const;
  const { code, signal, stdout } = await run(command, { cwd: folder, withinMs: PROGRAM_MS });
  const errors = stdout.split('\n').filter((line) => /error TS\d/.test(line));
  const ours = errors.filter((line) => !/^node_modules\/(?!@raindrop\/)/.test(line));
  assert.ok(ours.length === 0 && (code === 0 || errors.length > 0), `tsc: ${signal ?? code}\n${ours.join('\n')}`);
}

/** The versions that the suite of the ORM runs with: those of its lockfile, as the suite need not be installed. */
function versionsOf(app: OrmApp): ReadonlyMap<string, string> {
  const lockfile = join(ROOT, 'test/orms', app.name, 'package-lock.json');
  const { packages } = readJson<{ packages: Record<string, { version: string }> }>(lockfile);
  return new Map(Object.entries(packages).map(([path, { version }]) => [path.replace(/^node_modules\//, ''), version]));
}

function versionHere(name: string): string {
  return readJson<{ version: string }>(join(ROOT, 'node_modules', name, 'package.json')).version;
}

const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  experimentalDecorators: true,
  rootDir: 'src',
  outDir: 'dist',
};

/** An empty database on a server of this run. */
async function onPostgres(use: (url: string, sql: RunSql) => Promise<void>): Promise<void> {
  const server = await obtainServer('postgres', waysTo('postgres', process.env, new AptInstall()));
  try {
    const url = new URL(server.url);
    url.pathname = `raindrop_packaging_${process.pid}`;
    await createDatabase('postgres', server.url, url.pathname.slice(1));
    const address = serverAddress(url.href, serverFacts.postgres.usualPort);
    await withPostgresSession(address, SQL_MS, (sql) => use(url.href, sql));
  } finally {
    await server.stop?.();
  }
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
