/**
 * Makes the contracts of the suite of one schema, as `prisma contract emit` does: each database with keys of each type. And
 * that of docs/prisma-8.md, whose code is compiled with it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { executeContractEmit } from '@prisma/orm-toolchain/cli/control-api';
import { snowflakes } from '@raindrop/orm/prisma-8';

const template = readFileSync(join(import.meta.dirname, 'schema.prisma'), 'utf8');
const generated = join(import.meta.dirname, 'generated');
/** Prisma's driver of SQLite is node:sqlite, also for the contract. The folder brings a Node that has it. */
const ownNode = join(import.meta.dirname, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
const KEYS = { postgres: ['BigInt', 'BigIntNumber', 'String'], sqlite: ['String'] };

if (!isBuiltin('node:sqlite') && existsSync(ownNode)) {
  const { status } = spawnSync(ownNode, [import.meta.filename], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
rmSync(generated, { recursive: true, force: true });
for (const [target, types] of Object.entries(KEYS)) {
  for (const type of types) {
    await emit(target, `${target}-${type}`, template.replace(/^( +\w+ +)BigInt(?=\??( |$))/gm, `$1${type}`));
  }
}
const page = readFileSync(join(import.meta.dirname, '../../../docs/prisma-8.md'), 'utf8');
await emit('postgres', 'docs', /^```prisma\n([^]*?)^```/m.exec(page)[1]);

async function emit(target, name, schema) {
  const { defineConfig } = await import(`@prisma/orm-${target}/config`);
  const folder = join(generated, name);
  mkdirSync(folder, { recursive: true });
  // Prisma takes the names of its packages in the types from the application, which has one database.
  writeFileSync(join(folder, 'package.json'), `{ "dependencies": { "@prisma/orm-${target}": "*" } }`);
  const contract = join(folder, 'contract.prisma');
  writeFileSync(contract, schema);
  const config = defineConfig({ contract, extensions: [snowflakes({ target })] });
  await executeContractEmit({ config, cwd: folder, projectDir: folder });
}
