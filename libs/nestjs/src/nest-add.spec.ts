import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { nestAdd } from './nest-add.js';

const MODULE = `import { Module } from '@nestjs/common';\n\n@Module({ imports: [] })\nexport class AppModule {}\n`;
const MAIN = `import { AppModule } from './app.module';\nvoid NestFactory.create(AppModule);\n`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raindrop-nest-add-'));
  symlinkSync(resolve(__dirname, '../../../node_modules'), join(folder, 'node_modules'));
  jest.spyOn(process, 'cwd').mockReturnValue(folder);
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function put(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** What the schematic does to the files of the application, and what it says. */
function added(options: Parameters<typeof nestAdd>[0]): { changes: Record<string, string>; said: string[] } {
  const changes: Record<string, string> = {};
  const said: string[] = [];
  const change = (path: string, text: string): void => {
    changes[path.replace(/\d{13}/, 'TIME')] = text;
  };
  const logger = { info: (message: string) => said.push(message) };
  nestAdd(options)({ create: change, overwrite: change }, { logger });
  return { changes, said };
}

const APPLICATION = {
  'package.json': '{ "dependencies": { "@nestjs/core": "^11.0.0", "@raindrop/nestjs": "0.1.0" } }',
  'src/main.ts': MAIN,
  'src/app.module.ts': MODULE,
};

describe('nest add @raindrop/nestjs', () => {
  it('adds module, entity and migration, and says what is left to do', () => {
    put(APPLICATION);
    const { changes, said } = added({ sourceRoot: 'src' });
    expect(Object.keys(changes)).toEqual([
      'src/orders/order.entity.ts',
      'src/migrations/TIME-create-orders.ts',
      'src/app.module.ts',
    ]);
    expect(changes['src/app.module.ts']).toContain('    RaindropModule.forRoot(),\n');
    expect(said.join('\n')).toMatch(/^next: npm install @nestjs\/typeorm@11 typeorm better-sqlite3@\d+$/m);
  });

  it('adds the module alone, for the database of a URL', () => {
    put(APPLICATION);
    const { changes, said } = added({ moduleOnly: true, url: 'postgres://127.0.0.1/shop' });
    expect(Object.keys(changes)).toEqual(['src/app.module.ts']);
    expect(said).toContain('next: npm install pg');
  });

  it('adds to the application of a monorepo that the Nest CLI names', () => {
    put({
      'package.json': APPLICATION['package.json'],
      'nest-cli.json': '{ "sourceRoot": "apps/other/src" }',
      'apps/shop/src/main.ts': MAIN,
      'apps/shop/src/app.module.ts': MODULE,
    });
    expect(added({ sourceRoot: 'apps/shop/src' }).changes).toHaveProperty(['apps/shop/src/app.module.ts']);
  });

  it('changes nothing the second time, and refuses what is no Nest application', () => {
    put({ ...APPLICATION, 'src/app.module.ts': MODULE.replace('[]', '[RaindropModule.forRoot()]') });
    expect(added({})).toEqual({ changes: {}, said: [expect.stringContaining('nothing was changed')] });
    put({ 'package.json': '{}' });
    expect(() => added({})).toThrow('package.json does not list @nestjs/core');
  });
});
