import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { raindropHere } from './cli-in-process.js';

const MODULE = `import { Module } from '@nestjs/common';

@Module({ imports: [] })
export class AppModule {}
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raindrop-init-orms-'));
  symlinkSync(resolve(__dirname, '../../../node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/app.module.ts'), MODULE);
  writeFileSync(
    join(folder, 'src/main.ts'),
    `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

void NestFactory.create(AppModule).then((app) => app.listen(3000));
`,
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function init(...dependencies: string[]): Promise<{ stdout: string; module: string }> {
  const all = ['@nestjs/core', ...dependencies].map((name) => [name, '*'] as const);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: Object.fromEntries(all) }));
  const { code, stdout, stderr } = await raindropHere(['init', '--project', folder]);
  expect([code, stderr]).toEqual([0, '']);
  return { stdout, module: readFileSync(join(folder, 'src/app.module.ts'), 'utf8') };
}

it.each([
  ['kysely', 'withSnowflakes(dialect', '@raindrop/orm/kysely', 'docs/kysely.md'],
  ['drizzle-orm', 'snowflake().primaryKey()', '@raindrop/orm/drizzle', 'docs/drizzle.md'],
  ['@mikro-orm/core', '@SnowflakePrimaryKey()', '@raindrop/orm/mikro-orm', 'docs/mikro-orm.md'],
  ['sequelize', 'snowflakeKey()', '@raindrop/orm/sequelize', 'docs/sequelize.md'],
  ['@prisma/client', 'prisma.$extends(snowflakes', '@raindrop/orm/prisma', 'docs/prisma.md'],
  ['@prisma/orm-postgres', '@default(snowflake())', '@raindrop/orm/prisma-8', 'docs/prisma-8.md'],
])('init --project recognises %s, imports the module and prints its lines', async (name, ...expected) => {
  const { stdout, module } = await init(name);
  expect(module).toContain(`import { RaindropModule } from '@raindrop/nestjs';`);
  expect(module).toContain(`RaindropModule.forRoot({ dbConfig: process.env['DATABASE_URL'] })`);
  expect(module).not.toContain('TypeOrmModule');
  for (const text of ['install @raindrop/nestjs and @raindrop/orm from where', ...expected])
    expect(stdout).toContain(text);
  expect((await init(name)).module).toBe(module);
});

it('init --project writes for TypeORM in an application that has it as well', async () => {
  const { module } = await init('kysely', 'typeorm', '@nestjs/typeorm');
  expect(module).toContain('TypeOrmModule');
});
