import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runOrThrow } from './run-or-throw.js';

const ROOT = resolve(__dirname, '../..');
const DRIVER = join('node_modules', 'better-sqlite3');

/** npm's setting for what installs the driver: its scripts would compile it for a minute where nothing is prebuilt. */
export const WITHOUT_SCRIPTS = { npm_config_ignore_scripts: 'true' };

/** Gives an application what those scripts make: the repository's own build where it has the same version. */
export async function useBuiltSqlite(folder: string): Promise<void> {
  const version = (parent: string): unknown =>
    (JSON.parse(readFileSync(join(parent, DRIVER, 'package.json'), 'utf8')) as { version: string }).version;
  const build = join(DRIVER, 'build');
  if (existsSync(join(ROOT, build)) && version(ROOT) === version(folder)) {
    cpSync(join(ROOT, build), join(folder, build), { recursive: true });
    return;
  }
  console.log(`release: better-sqlite3 ${String(version(folder))} is not the repository's and is built`);
  await runOrThrow('npm rebuild better-sqlite3', folder, { npm_config_ignore_scripts: 'false' });
}
