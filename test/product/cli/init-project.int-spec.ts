import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { transformSync } from '@swc/core';
import { RaindropModule } from '@raindrop/nestjs';
import ts from 'typescript';
import { DataSource, type MigrationInterface } from 'typeorm';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';
import { swc } from '../../support/jest/typescript.cjs';
import { databaseKinds } from '../../support/servers/test-databases.js';
import { jsonHere, raindropHere } from './cli-in-process.js';

const ROOT = resolve(__dirname, '../../..');

/** What `nest new` writes, as far as it matters here. */
const FRESH: Readonly<Record<'nest 11' | 'nest 12', Readonly<Record<string, string>>>> = {
  'nest 11': fresh('^11.0.0', ''),
  'nest 12': fresh('^12.0.0', '.js'),
};

function fresh(version: string, end: string): Record<string, string> {
  return {
    'package.json': JSON.stringify({
      ...(end !== '' && { type: 'module' }),
      dependencies: { '@nestjs/common': version, '@nestjs/core': version },
      devDependencies: { typescript: '^5.7.3' },
    }),
    'nest-cli.json': '{ "collection": "@nestjs/schematics", "sourceRoot": "src" }',
    'src/main.ts': `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module${end}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
bootstrap();
`,
    'src/app.module.ts': `import { Module } from '@nestjs/common';
import { AppController } from './app.controller${end}';
import { AppService } from './app.service${end}';

@Module({
  imports: [],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`,
    'src/app.controller.ts': `export class AppController {}\n`,
    'src/app.service.ts': `export class AppService {}\n`,
  };
}

/** One for all: its packages are a link. */
const folder = mkdtempSync(join(tmpdir(), 'raindrop-init-'));
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));

afterEach(() => {
  for (const each of written()) rmSync(join(folder, each), { recursive: true, force: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** What stands in the folder, but for the link to the packages, which Node 26 would follow. */
const written = (): string[] => readdirSync(folder).filter((name) => name !== 'node_modules');

/** All files of the application, by their names. */
function files(): Record<string, string> {
  const names = written().flatMap((name) => {
    const path = join(folder, name);
    if (!statSync(path).isDirectory()) return [path];
    const found = readdirSync(path, { recursive: true, withFileTypes: true });
    return found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  });
  return Object.fromEntries(names.map((name) => [name.slice(folder.length + 1), readFileSync(name, 'utf8')]));
}

const migrationIn = (all: Record<string, string>): string =>
  Object.keys(all).find((each) => /\d{13}-create-orders/.test(each))!;

/** Raindrop as the application sees it: reading the sources of the libraries takes half a minute. */
const STUB = `import type { DynamicModule } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
export declare class RaindropModule {
  static forRoot(options?: object): DynamicModule;
}
export declare function GeneratedSnowflake(): PropertyDecorator;
export declare function workerTableMigration(): new () => MigrationInterface;
`;

/** What the compiler says of the application. */
function typeErrors(end: string): string[] {
  put({ 'stub.ts': STUB });
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    noUnusedLocals: true,
    skipLibCheck: true,
    esModuleInterop: true,
    types: ['node'],
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    rootDir: '/',
    ...(end === ''
      ? { module: ts.ModuleKind.Preserve, moduleResolution: ts.ModuleResolutionKind.Bundler }
      : { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }),
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: { '@raindrop/nestjs': [join(folder, 'stub.ts')], '@raindrop/nestjs/typeorm': [join(folder, 'stub.ts')] },
  };
  const program = ts.createProgram([join(folder, 'src/main.ts')], options);
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file?.fileName.startsWith(folder) ?? true)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** What is no TypeScript at all. */
function syntaxErrors(text: string): unknown[] {
  const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true });
  return diagnostics!.map(({ messageText }) => messageText);
}

/** What a file exports. */
function exportsOf(text: string): Record<string, never> {
  const { code } = transformSync(text, { swcrc: false, ...swc });
  const exported: Record<string, never> = {};
  // The text that was written is what is to be run here.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
  new Function('exports', 'require', code)(exported, require);
  return exported;
}

describe.each([
  ['nest 11', ''],
  ['nest 12', '.js'],
] as const)('init --project in a fresh application of %s', (version, end) => {
  beforeEach(() => put(FRESH[version]));

  it('writes module, entity and migration, which compile, and says what is left to do', async () => {
    const { code, stdout, stderr } = await raindropHere(['init', '--project', folder]);
    expect([code, stderr]).toEqual([0, '']);
    const all = files();
    const migration = migrationIn(all);
    expect(Object.keys(all).filter((each) => !(each in FRESH[version]))).toEqual(
      expect.arrayContaining(['src/orders/order.entity.ts', migration]),
    );
    const name = migration.slice('src/'.length, -'.ts'.length);
    expect(all['src/app.module.ts']).toBe(`import { Module } from '@nestjs/common';
import { AppController } from './app.controller${end}';
import { AppService } from './app.service${end}';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import * as migrations from './${name}${end}';
import { Order } from './orders/order.entity${end}';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: 'app.sqlite',
      autoLoadEntities: true,
      migrations: Object.values(migrations),
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([Order]),
    RaindropModule.forRoot(),
  ],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`);
    const module = end === '' ? '@nestjs/typeorm@11' : '@nestjs/typeorm';
    // Before the release anybody may own its name on npm.
    expect(stdout).toContain('install @raindrop/nestjs from where @raindrop/cli came');
    expect(stdout).toContain(`npm install ${module} typeorm better-sqlite3`);
    expect(stdout).toContain('app.enableShutdownHooks()');
    expect(typeErrors(end)).toEqual([]);
  });

  it('does it once, and a dry run does nothing', async () => {
    const before = files();
    const dry = await raindropHere(['init', '--project', folder, '--dry-run']);
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('RaindropModule.forRoot()')]);
    expect(files()).toEqual(before);
    await raindropHere(['init', '--project', folder]);
    const after = files();
    const again = await raindropHere(['init', '--project', folder]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('nothing was changed')]);
    expect(files()).toEqual(after);
  });
});

describe('init --project', () => {
  const MODULE = 'src/app.module.ts';
  const moduleOf = (options: string, before = ''): Record<string, string> => ({
    ...FRESH['nest 11'],
    [MODULE]: `import { Module } from '@nestjs/common';\n${before}\n@Module(${options})\nexport class AppModule {}\n`,
  });

  it.each([
    ['{}', ''],
    ['{ controllers: [] }', ''],
    ['{ imports: [ConfigModule.forRoot()] }', `import { ConfigModule } from './config.module';\n`],
    [
      '{\n  imports: [\n    ConfigModule.forRoot(), // stays\n  ],\n}',
      `import { ConfigModule } from './config.module';\n`,
    ],
    ['{ imports: [/* none yet */] }', ''],
  ])('adds to @Module(%s), and takes nothing away', async (options, before) => {
    put(moduleOf(options, before));
    expect(await raindropHere(['init', '--project', folder])).toMatchObject({ code: 0 });
    const text = files()[MODULE]!;
    expect(syntaxErrors(text)).toEqual([]);
    for (const kept of ['ConfigModule.forRoot()', '// stays', '/* none yet */', 'controllers: []']) {
      expect(text.includes(kept)).toBe(options.includes(kept));
    }
  });

  it('leaves a DataSource of the application alone, and says what to add', async () => {
    put(
      moduleOf(
        `{ imports: [TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'a' })] }`,
        `import { TypeOrmModule } from '@nestjs/typeorm';\n`,
      ),
    );
    const { code, result } = await jsonHere<{ remaining: string[] }>(['init', '--project', folder]);
    expect([code, files()[MODULE]!.match(/TypeOrmModule\.forRoot/g)]).toEqual([0, ['TypeOrmModule.forRoot']]);
    expect(result.remaining.join()).toMatch(/add Order and the migrations of src\/migrations\/\d{13}-create-orders.ts/);
    expect(syntaxErrors(files()[MODULE]!)).toEqual([]);
  });

  describe('--module-only', () => {
    const moduleOnly = ['init', '--project', folder, '--module-only'];

    it('adds the module alone, which uses the DataSource of the application', async () => {
      const uses = `import { DatabaseModule } from './database.module';\n`;
      put(moduleOf('{ imports: [DatabaseModule] }', uses));
      put({
        'package.json': FRESH['nest 11']['package.json']!.replace(
          '"dependencies":{',
          '"dependencies":{"typeorm":"^1.0.0",',
        ),
        'src/order.ts': 'export class Order {}\n',
      });
      const before = files();
      const { code, result } = await jsonHere<{ files: object[]; remaining: string[] }>(moduleOnly);
      expect([code, result.files]).toEqual([0, []]);
      expect(files()).toEqual({
        ...before,
        [MODULE]: `import { Module } from '@nestjs/common';
import { DatabaseModule } from './database.module';
import { RaindropModule } from '@raindrop/nestjs';

@Module({ imports: [DatabaseModule,
    RaindropModule.forRoot()] })
export class AppModule {}
`,
      });
      expect(result.remaining).toEqual([
        expect.stringMatching(/^install @raindrop\/nestjs from where/),
        expect.stringContaining('@GeneratedSnowflake()'),
        expect.stringContaining('raindrop init'),
        expect.stringContaining('enableShutdownHooks()'),
      ]);
      expect((await raindropHere(moduleOnly)).stdout).toContain('nothing was changed');
    });

    it('reads DATABASE_URL in an application without TypeORM', async () => {
      put(FRESH['nest 12']);
      put({ 'src/main.ts': `${FRESH['nest 12']['src/main.ts']!}// app.enableShutdownHooks()\n` });
      const { code, result } = await jsonHere<{ remaining: string[] }>([
        ...moduleOnly,
        '--url',
        'postgres://127.0.0.1/d',
      ]);
      expect(code).toBe(0);
      expect(files()[MODULE]).toContain(`RaindropModule.forRoot({ dbConfig: process.env['DATABASE_URL'] })`);
      expect(result.remaining).toEqual([
        expect.stringMatching(/^install @raindrop\/nestjs from where/),
        'npm install pg',
        'set DATABASE_URL wherever the application starts',
        expect.stringContaining('raindrop init'),
      ]);
      expect(typeErrors('.js')).toEqual([]);
    });
  });

  it.each([
    ['from sourceRoot', 'server', 'app/server.ts'],
    ['from the folder', 'app/start/server.js', 'app/start/server.ts'],
  ])('finds the entryFile of nest-cli.json %s', async (_, entryFile, file) => {
    const { 'package.json': manifest, 'src/main.ts': main, [MODULE]: module } = FRESH['nest 11'];
    const folderOf = dirname(file);
    put({ 'package.json': manifest!, 'nest-cli.json': JSON.stringify({ sourceRoot: 'app', entryFile }) });
    put({ [file]: main!, [join(folderOf, 'app.module.ts')]: module! });
    expect(await raindropHere(['init', '--project', folder])).toMatchObject({ code: 0 });
    expect(files()[join(folderOf, 'app.module.ts')]).toContain('RaindropModule.forRoot()');
  });

  it.each([
    ['itself', '{ "compilerOptions": { "experimentalDecorators": true } }', '{}', true],
    [
      'by what it extends',
      '{ "extends": "./base.json" }',
      '{ "compilerOptions": { "experimentalDecorators": true } }',
      true,
    ],
    ['not at all', '{ "extends": "./base.json", "files": [] }', '{ "compilerOptions": { "strict": true } }', false],
  ])('demands experimentalDecorators: set %s', async (_, config, base, isSet) => {
    put({ ...FRESH['nest 11'], 'tsconfig.json': config, 'base.json': base });
    const before = files();
    const { code, stderr } = await raindropHere(['init', '--project', folder]);
    if (isSet) return expect([code, stderr]).toEqual([0, '']);
    expect(code).toBe(2);
    expect(stderr).toContain('tsconfig.json does not set experimentalDecorators');
    expect(files()).toEqual(before);
  });

  it('takes the kind of database from --url, and writes no password down', async () => {
    put(FRESH['nest 12']);
    await raindropHere(['init', '--project', folder, '--url', 'postgres://ada:hunter2@127.0.0.1/shop']);
    expect(files()[MODULE]).toContain(`type: 'postgres',\n      url: process.env['DATABASE_URL'],`);
    expect(Object.values(files()).join()).not.toContain('hunter2');
    expect(syntaxErrors(files()[MODULE]!)).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ['package.json is missing', {}],
    ['does not list @nestjs/core', { 'package.json': '{}' }],
    ['there is no src/main.ts', { 'package.json': FRESH['nest 11']['package.json']! }],
    [
      'there is no src/server.ts and no server.ts (entryFile in nest-cli.json)',
      { ...FRESH['nest 11'], 'nest-cli.json': '{ "entryFile": "server" }' },
    ],
    ['does not call NestFactory.create(AppModule)', { ...FRESH['nest 11'], 'src/main.ts': 'export {};' }],
    [
      'does not list its imports in the decorator itself',
      moduleOf('{ imports: shared }', 'const shared: never[] = [];\n'),
    ],
    ['has no class AppModule with @Module', { ...FRESH['nest 11'], [MODULE]: 'export class AppModule {}' }],
    ['has no class AppModule with @Module', moduleOf('options', 'const options = {};\n')],
    ['already imports something else named Order', moduleOf('{}', `import { Order } from './order';\n`)],
    ['exists already', { ...FRESH['nest 11'], 'src/orders/order.entity.ts': '// mine' }],
  ])('refuses, and changes nothing: %s', async (why, given) => {
    put(given);
    const before = files();
    const { code, stdout, stderr } = await raindropHere(['init', '--project', folder]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(why);
    expect(files()).toEqual(before);
  });

  it('takes back what it wrote when it cannot write all', async () => {
    put(FRESH['nest 12']);
    put({ 'src/app.module.ts.raindrop': 'in the way' });
    const before = files();
    const { code, stderr } = await raindropHere(['init', '--project', folder]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing was changed: EEXIST')]);
    expect(files()).toEqual(before);
  });
});

describe.each(databaseKinds)('What init --project has written, on %s', (kind) => {
  const database = useDatabase(kind, 'suite');

  it('makes the tables, and orders are saved', async () => {
    put(FRESH['nest 12']);
    await raindropHere(['init', '--project', folder]);
    const all = files();
    const { Order } = exportsOf(all['src/orders/order.entity.ts']!) as unknown as { Order: new () => { id: string } };
    const migrations = Object.values(exportsOf(all[migrationIn(all)]!)) as (new () => MigrationInterface)[];
    const source = { ...database.options, entities: [Order], migrations, migrationsRun: true };
    const app = await startApp([typeorm(source), RaindropModule.forRoot({ ...OPTIONS, autoCreateTable: false })]);
    const dataSource = app.get(DataSource);
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query)).toEqual([]);
    const saved = await dataSource.getRepository(Order).save(Object.assign(new Order(), { customer: 'Ada' }));
    expect(saved.id).toMatch(/^\d{15,19}$/);
    await app.close();
    expect(existsSync(join(folder, 'app.sqlite'))).toBe(false);
  });
});
