/**
 * `npm run adopt:real`: a real application goes over to Raindrop by the documented commands, with rows in its tables
 * that came before. Its own end-to-end tests run before and after. RAINDROP_REAL_APP_GIT names a repository that has the
 * commit, where GitHub cannot be reached. Everything happens in a temporary folder, which is deleted.
 */
import assert from 'node:assert/strict';
import { shellCommands } from '../docs/shell-commands.js';
import { readDocument } from '../docs/typescript-blocks.js';
import { fillEmpty, noDrift, sameRows, showNew, useOldAndNew } from './adoption-checks.js';
import { BoilerplateClient } from './boilerplate-client.js';
import { readRows } from './boilerplate-rows.js';
import { APPLICATION, Boilerplate, COMMIT } from './boilerplate.js';
import { Stage } from './stage.js';

const DEADLINE_MS = 1_500_000;
const GUIDE = 'docs/migration.md';
const { scope } = (JSON.parse(readDocument('package.json')) as { raindrop: { scope: string } }).raindrop;

async function step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`adopt: ${name}${result === undefined ? '' : `: ${String(result)}`} (${seconds} s)`);
  return result;
}

async function adoptReal(stage: Stage): Promise<void> {
  const databaseUrl = new URL(await step('PostgreSQL runs', () => stage.database()));
  const app = new Boilerplate(stage, databaseUrl);
  const from = process.env['RAINDROP_REAL_APP_GIT'] ?? `https://github.com/${APPLICATION}.git`;
  await step(`${APPLICATION} at ${COMMIT.slice(0, 8)}`, () => app.fetch(from));
  await step('npm ci', () => app.install());
  await app.configure();

  await step('its database and its build', () => migrateSeedAndBuild(app));
  await app.start();
  const client = new BoilerplateClient(app.url);
  const old = await client.register('old@example.com');
  assert(old.user.id < 1_000);
  const tests = await step('its end-to-end tests pass', () => app.endToEndTests());
  assert(readDocument(GUIDE).includes(`${tests} end-to-end tests`), `${GUIDE} says otherwise`);
  await app.stop();
  const before = await readRows(databaseUrl);

  const floor = await followGuide(app);
  const changed = await step('the patch', () => app.changedLines());
  assert(readDocument(GUIDE).includes(changed), `${GUIDE} says otherwise`);
  sameRows(before, await readRows(databaseUrl));
  await step('its entities are what the database has', () => noDrift(app));
  await step('its build', () => app.build());

  await app.start();
  await step('old and new users by HTTP', () => useOldAndNew(app, client, old, floor));
  assert.equal(await step('its end-to-end tests pass', () => app.endToEndTests()), tests);
  assert.match(await app.raindrop('doctor'), /^ok +free workers +1 held/m);
  await app.stop();
  assert.match(await app.raindrop('workers'), /^255 free/m);
  const after = await readRows(databaseUrl);
  await step('rows', () => showNew(before, after, floor));
  await step('an empty database, with its seeds', () => fillEmpty(app, databaseUrl, floor));
}

async function migrateSeedAndBuild(app: Boilerplate): Promise<void> {
  await app.migrate();
  await app.seed();
  await app.build();
}

/** Runs what the document shows, line by line, as a person does. @returns where the new IDs begin */
async function followGuide(app: Boilerplate): Promise<bigint> {
  let printed = '';
  for (const { command } of shellCommands([GUIDE])) {
    await step(`$ ${command}`, async () => {
      printed += await app.run(command, app.shell);
    });
  }
  app.hasPacked(scope);
  // What the patch does, and where.
  assert.match(printed, /^options for the module: \{"layout":"number"\}$/m);
  assert.match(printed, /^entity, if keys stay numbers: @GeneratedSnowflake\(\{ as: 'number' \}\)/m);
  assert.match(printed, /\/seed\.module\.ts:\d+ creates a DataSource without Raindrop/);
  const [, floor] = /^new IDs begin at (\d+):/m.exec(printed)!;
  return BigInt(floor!);
}

const stage = new Stage();
const began = performance.now();

function abandon(why: string): void {
  console.error(`adopt: ${why}`);
  void stage.close().finally(() => process.exit(1));
}

const timer = setTimeout(() => abandon(`it took longer than ${DEADLINE_MS / 1_000} s`), DEADLINE_MS);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abandon(`ended by ${signal}`));

adoptReal(stage)
  .then(() =>
    console.log(`adopt: the application has gone over (${Math.round((performance.now() - began) / 1_000)} s)`),
  )
  .catch((error: unknown) => {
    console.error('adopt:', error, stage.lastWords);
    process.exitCode = 1;
  })
  .finally(() => stage.close())
  .finally(() => clearTimeout(timer));
