/**
 * `node tools/install-once.mjs FOLDER [FLAG...]`: `npm ci` in a folder outside the workspaces, which has a lockfile of its
 * own. It takes seconds and empties node_modules: it runs only where another lockfile was installed.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, ...flags] = process.argv.slice(2);
const lockfile = join(folder, 'package-lock.json');
const installed = join(folder, 'node_modules/.installed-lock.json');
if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(lockfile))) {
  const args = ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel', 'error', ...flags];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  cpSync(lockfile, installed);
}
