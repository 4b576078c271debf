import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DRIVER_PACKAGES } from '../database/database-errors.js';
import { runsSqlite13 } from '../database/sqlite-versions.js';
import { isFileDatabase, type SupportedDatabase } from '../database/supported-database.js';
import { databaseAddressesOf } from '../drivers/database-settings.js';
import { InputError } from './input-error.js';
import { type ModuleFile, readModule } from './module-edit.js';
import { type NestProject, nestProject } from './nest-project.js';
import { ormOf, ormRemaining } from './project-orm.js';

/** The changes that `init --project` will make to an application. */
export interface InitPlan {
  /** New files, with paths from the folder of the project. */
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** The module's file and its new text; undefined when RaindropModule is imported already. */
  readonly module: { readonly file: string; readonly text: string } | undefined;
  /** The steps that are left to the user, in their order. */
  readonly remaining: readonly string[];
}

/**
 * The major version of better-sqlite3. TypeORM's peer would bring 12, which fails on Node 24.19 and later:
 * docs/versions.md.
 */
const SQLITE = runsSqlite13(process.versions.node) ? '13' : '12';

/** The entity that shows how IDs are used. */
const ENTITY = `import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity } from 'typeorm';

/** Its id is a bigint in the database and a text in JavaScript, whose numbers end at 2^53. */
@Entity('orders')
export class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ length: 100 })
  customer!: string;
}
`;

const IMPORT = `import { RaindropModule } from '@raindrop/nestjs';`;

const SET_URL = 'set DATABASE_URL wherever the application starts';

/** The plan for an application that imports RaindropModule already. */
const UNCHANGED: InitPlan = { files: [], module: undefined, remaining: [] };

/** What the caller knows of an application. */
interface InitRequest {
  /** The folder of the application. */
  readonly path: string;
  /** In the place of that of `nest-cli.json`. */
  readonly sourceRoot?: string | undefined;
  /** The database of the application; undefined for SQLite. */
  readonly url?: unknown;
  /** Whether it has tables of its own: it gets no entity and no migration. */
  readonly isModuleOnly: boolean;
}

/**
 * Plans what `raindrop init --project` and `nest add @raindrop/nestjs` change in a Nest application.
 * @throws InputError when this is none, or its files cannot be extended
 */
export function planProject(request: InitRequest, nowMs: number): InitPlan & { readonly folder: string } {
  const project = nestProject(request.path, request.sourceRoot);
  const type = databaseAddressesOf(request.url)?.[0]?.type;
  const isModuleOnly = request.isModuleOnly || ormOf(project) !== undefined;
  const plan = isModuleOnly ? planModule(project, type) : planInit(project, type, nowMs);
  return { folder: project.folder, ...plan };
}

/**
 * Plans the changes to an application.
 * @param type the database of the application; undefined for SQLite
 * @throws InputError when a new file exists already, or the module's text cannot be extended
 */
function planInit(project: NestProject, type: SupportedDatabase | undefined, nowMs: number): InitPlan {
  const { folder, moduleFile, packages, typeormModule } = project;
  const module = readModule(project);
  const named = relative(folder, moduleFile);
  if (module.imported.includes('RaindropModule')) return UNCHANGED;
  const hasOrm = module.imported.some((each) => /^TypeOrmModule\.forRoot(Async)?$/.test(each));
  refuseTaken(named, module, ['Order', 'RaindropModule', ...(hasOrm ? [] : ['migrations'])]);

  const place = dirname(moduleFile);
  const migration = `./migrations/${nowMs}-create-orders`;
  const files = [
    { file: relative(folder, join(place, 'orders/order.entity.ts')), text: ENTITY },
    { file: relative(folder, join(place, `${migration}.ts`)), text: migrationText(nowMs) },
  ];
  const there = files.filter(({ file }) => existsSync(join(folder, file))).map(({ file }) => file);
  if (there.length > 0) throw new InputError(`${there.join(', ')} exists already: move or rename it first`);

  const end = module.hasExtensions ? '.js' : '';
  const imports = [
    ...(module.names.includes('TypeOrmModule') ? [] : [`import { TypeOrmModule } from '@nestjs/typeorm';`]),
    IMPORT,
    ...(hasOrm ? [] : [`import * as migrations from '${migration}${end}';`]),
    `import { Order } from './orders/order.entity${end}';`,
  ];
  const elements = [
    ...(hasOrm ? [] : [typeormElement(type, 'migrations')]),
    'TypeOrmModule.forFeature([Order])',
    'RaindropModule.forRoot()',
  ];
  const needed = [
    '@raindrop/nestjs',
    '@nestjs/typeorm',
    'typeorm',
    ...(hasOrm ? [] : [DRIVER_PACKAGES[type ?? 'better-sqlite3']]),
  ];
  const missing = needed.filter((each) => !packages.includes(each)).map((each) => releaseOf(each, typeormModule));
  const isOnServer = !hasOrm && type !== undefined && !isFileDatabase(type);
  return {
    files,
    module: { file: named, text: module.with(imports, elements) },
    remaining: [
      ...(missing.includes('better-sqlite3@13')
        ? [`npm pkg set 'overrides.typeorm.better-sqlite3=$better-sqlite3'`]
        : []),
      ...installing(missing),
      ...(isOnServer ? [SET_URL] : []),
      ...(hasOrm ? [`add Order and the migrations of ${files[1]!.file} to the options of your TypeOrmModule`] : []),
      ...hooksRemaining(project),
    ],
  };
}

/**
 * Plans the import of RaindropModule alone, for an application with tables of its own. With TypeORM the service finds the
 * application's DataSource; otherwise it reads `DATABASE_URL`.
 * @throws InputError when the module's text cannot be extended
 */
function planModule(project: NestProject, type: SupportedDatabase | undefined): InitPlan {
  const { folder, moduleFile, packages } = project;
  const module = readModule(project);
  const named = relative(folder, moduleFile);
  if (module.imported.includes('RaindropModule')) return UNCHANGED;
  refuseTaken(named, module, ['RaindropModule']);
  const hasTypeorm = packages.includes('typeorm');
  const orm = ormOf(project);
  const missing = ['@raindrop/nestjs', ...(orm === undefined ? [] : ['@raindrop/orm'])].filter(
    (each) => !packages.includes(each),
  );
  const driver =
    type === undefined ? 'the driver of your database (pg, mysql2 or better-sqlite3)' : DRIVER_PACKAGES[type];
  const element = hasTypeorm
    ? 'RaindropModule.forRoot()'
    : `RaindropModule.forRoot({ dbConfig: process.env['DATABASE_URL'] })`;
  return {
    files: [],
    module: { file: named, text: module.with([IMPORT], [element]) },
    remaining: [
      ...installing(missing),
      ...(hasTypeorm || Object.values(DRIVER_PACKAGES).some((each) => packages.includes(each))
        ? []
        : [`npm install ${driver}`]),
      ...(hasTypeorm
        ? [`give the keys of your entities @GeneratedSnowflake(), of @raindrop/nestjs/typeorm`]
        : [SET_URL]),
      ...(orm === undefined ? [] : ormRemaining(orm)),
      'run raindrop init if the account of the application must not create tables: else the first start creates them',
      ...hooksRemaining(project),
    ],
  };
}

/** Before the release anybody may own the names of our packages on npm. */
function installing(missing: readonly string[]): string[] {
  const isOurs = (name: string): boolean => name.startsWith('@raindrop/');
  const [ours, others] = [missing.filter(isOurs), missing.filter((each) => !isOurs(each))];
  return [
    ...(ours.length > 0 ? [`install ${ours.join(' and ')} from where @raindrop/cli came (README.md, Install)`] : []),
    ...(others.length > 0 ? [`npm install ${others.join(' ')}`] : []),
  ];
}

function hooksRemaining({ hasShutdownHooks }: NestProject): string[] {
  if (hasShutdownHooks) return [];
  return ['call app.enableShutdownHooks() in the file that starts the application: a stop then releases the worker id'];
}

/** @throws InputError when the module's file imports something else by one of these names */
function refuseTaken(file: string, { names }: ModuleFile, wanted: readonly string[]): void {
  const taken = wanted.filter((each) => names.includes(each));
  if (taken.length === 0) return;
  throw new InputError(
    `${file} already imports something else named ${taken.join(', ')}: import RaindropModule by hand`,
  );
}

/** The name and version with which npm installs a package. */
function releaseOf(name: string, typeormModule: string | undefined): string {
  const versions: Readonly<Record<string, string | undefined>> = {
    'better-sqlite3': SQLITE,
    '@nestjs/typeorm': typeormModule,
  };
  return versions[name] === undefined ? name : `${name}@${versions[name]}`;
}

/** @param timestamp the place of the migration among the others, Unix ms */
function migrationText(timestamp: number): string {
  const name = `CreateOrders${timestamp}`;
  return `import { workerTableMigration } from '@raindrop/nestjs/typeorm';
import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Creates the table in which processes lease their worker ids. */
export const CreateWorkerTable = workerTableMigration();

/** Creates the table of orders. Its key is filled by @GeneratedSnowflake(), not by the database. */
export class ${name} implements MigrationInterface {
  readonly name = '${name}';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'orders',
        columns: [
          { name: 'id', type: 'bigint', isPrimary: true },
          { name: 'customer', type: 'varchar', length: '100' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('orders');
  }
}
`;
}

/** The import of TypeOrmModule for an application without one. The password stays in an environment variable. */
function typeormElement(type: SupportedDatabase | undefined, migrations: string): string {
  const place =
    type === undefined || isFileDatabase(type) ? `database: 'app.sqlite'` : `url: process.env['DATABASE_URL']`;
  const lines = [
    `type: '${type ?? 'better-sqlite3'}'`,
    place,
    'autoLoadEntities: true',
    `migrations: Object.values(${migrations})`,
    'migrationsRun: true',
  ];
  return `TypeOrmModule.forRoot({\n${lines.map((line) => `      ${line},\n`).join('')}    })`;
}
