/**
 * `npm run release:dry`: a release, but for the publishing. Packs the libraries, lets publint and attw look at them,
 * publishes them to a registry of this host, follows the tutorial and the README with what npm installs from there, and
 * makes the next version in a copy. With `--first-order` it also goes from an empty folder to a saved order in a fresh
 * Nest 12 and a fresh Nest 11 application, as the README says, and tells how long that took. Everything happens in a temporary folder, which is deleted.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readDocument } from '../docs/typescript-blocks.js';
import { firstOrder } from './first-order.js';
import { LocalRegistry } from './local-registry.js';
import { hasPacked } from './packed.js';
import { runOrThrow } from './run-or-throw.js';
import { installAsReadmeSays, packAsReadmeSays } from './tarball-app.js';
import { followTutorial } from './tutorial.js';
import { tryNextVersion } from './version-step.js';

const ROOT = resolve(__dirname, '../../..');
const TOOLS = join(ROOT, 'test/published/release');
const DEADLINE_MS = 900_000;
/** npm's setting for packages that need none of their scripts. */
const WITHOUT_SCRIPTS = { npm_config_ignore_scripts: 'true' };
const { scope } = (JSON.parse(readDocument('package.json')) as { raindrop: { scope: string } }).raindrop;

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  console.log(`release: ${name} (${Math.round((performance.now() - began) / 1_000)} s)`);
  return result;
}

/** Waits for all of them, also when one fails: none may go on in a folder that is being deleted. */
async function sideBySide(...works: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).filter((each) => each.status === 'rejected');
  if (failed.length > 0) throw new AggregateError(failed.map(({ reason }) => reason as unknown));
}

async function shop(folder: string): Promise<void> {
  const registry = await step('verdaccio listens', () => LocalRegistry.start(scope, TOOLS, join(folder, 'registry')));
  try {
    await step('published to it', () =>
      runOrThrow('node test/published/release/publish.mjs', ROOT, { ...registry.environment, NPM_TOKEN: 'of-nobody' }),
    );
    const tutorial = join(folder, 'tutorial');
    mkdirSync(tutorial);
    const followed = await step('the tutorial holds', () =>
      followTutorial(tutorial, { ...registry.environment, ...WITHOUT_SCRIPTS }),
    );
    hasPacked(followed.folder, [`${scope}/core`, `${scope}/nestjs`]);
    for (const command of followed.commands) console.log(`  $ ${command}`);
    if (process.argv.includes('--first-order')) await firstOrders(folder, registry.environment);
  } finally {
    await registry.stop();
  }
}

/** One after the other: their times count. */
async function firstOrders(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  for (const nest of [12, 11] as const) {
    const parent = join(folder, `nest-${nest}`);
    mkdirSync(parent);
    const seconds = await step(`a saved order in a fresh Nest ${nest} application`, () =>
      firstOrder(nest, parent, { ...environment, ...WITHOUT_SCRIPTS }),
    );
    console.log(`  ${JSON.stringify(seconds)}`);
  }
}

async function others(folder: string): Promise<void> {
  await step('publint and attw find no fault', () =>
    runOrThrow('node test/published/packaging/check.mjs contents types dependencies versions', ROOT),
  );
  await step('the tarballs install as the README says', () => installAsReadmeSays(join(folder, 'shop'), scope));
  await step('the next version', () => tryNextVersion(join(folder, 'next'), scope));
}

async function dryRun(): Promise<void> {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  if (major < 22 || (major === 22 && minor < 11)) {
    throw new Error(
      `the tutorial and changesets need Node 22.11 or later, this is ${process.version}; .nvmrc names one`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-release-'));
  try {
    await sideBySide(
      step('packed as the README says', () => packAsReadmeSays(join(folder, 'shop'))),
      step('tools installed', () => runOrThrow('npm ci --prefer-offline --no-audit --no-fund', TOOLS, WITHOUT_SCRIPTS)),
    );
    await sideBySide(shop(folder), others(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const timer = setTimeout(() => {
  console.error(`release: it took longer than ${DEADLINE_MS / 1_000} s`);
  process.exit(1);
}, DEADLINE_MS);

dryRun()
  .then(() => console.log('release: everything is ready to be published'))
  .catch((error: unknown) => {
    for (const each of error instanceof AggregateError ? (error.errors as unknown[]) : [error]) {
      console.error(`release: ${each instanceof Error ? each.message : String(each)}`);
    }
    process.exitCode = 1;
  })
  .finally(() => clearTimeout(timer));
