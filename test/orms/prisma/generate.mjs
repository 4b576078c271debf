/**
 * Generates the clients of the suite: each database with keys as `BigInt` and as `String`, those of PostgreSQL also with
 * `relationJoins`, with a function as the default of each key and with the tables of better-auth, and one by the generator
 * that was usual before. Prisma would fetch an engine for migrations, which no
 * client needs: a program that does nothing takes its place.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PRISMA = join(import.meta.dirname, 'node_modules/prisma/build/index.js');
const FORMER = 'generator former {\n  provider = "prisma-client-js"\n  output = "../former"\n}\n';
const template = readFileSync(join(import.meta.dirname, 'schema.prisma'), 'utf8');
/** A model with the function under its usual name and under another one. */
const ISSUED = `
model Issued {
  id    BigInt  @id @default(dbgenerated("raindrop_id()"))
  named BigInt? @default(dbgenerated("\\"Shop\\".\\"nextId\\"()"))
  clock String? @default(dbgenerated("now()"))
  title String?
}
`;
const auth = readFileSync(join(import.meta.dirname, 'auth.prisma'), 'utf8');
const generated = join(import.meta.dirname, 'generated');

rmSync(generated, { recursive: true, force: true });
for (const key of ['BigInt', 'String']) {
  const withKeys = (text) => text.replace(/^( +\w+ +)BigInt(?=\??( |$))/gm, `$1${key}`);
  const schema = withKeys(template);
  generate(`postgresql-${key}/client`, schema);
  generate(
    `postgresql-${key}/joins`,
    schema.replace(/output .*/, 'output = "joins"\n  previewFeatures = ["relationJoins"]'),
  );
  const declared = schema.replaceAll('dbgenerated()', 'dbgenerated("raindrop_id()")').replace('"client"', '"declared"');
  generate(`postgresql-${key}/declared`, declared + ISSUED);
  generate(`postgresql-${key}/auth`, withKeys(auth));
  generate(`mysql-${key}/client`, schema.replace('"postgresql"', '"mysql"'));
  generate(`sqlite-${key}/client`, schema.replace('"postgresql"', '"sqlite"') + (key === 'BigInt' ? FORMER : ''));
}

function generate(place, content) {
  const schema = join(generated, `${place}.prisma`);
  mkdirSync(dirname(schema), { recursive: true });
  writeFileSync(schema, content);
  const { status } = spawnSync(process.execPath, [PRISMA, 'generate', '--schema', schema], {
    cwd: import.meta.dirname,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: 'true' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
}
