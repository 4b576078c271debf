/**
 * `npm run pack`: builds the libraries and packs them into dist/packages, as `npm publish` would. `npm run pack -- ../shop`
 * also lays those that an application needs into its `vendor`, and prints the entries with which its package manager
 * installs them; `--write` makes the entries.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { Command } from 'commander';
import { packLibraries, repository } from './pack-libraries.mjs';

const require = createRequire(import.meta.url);
require('../../typescript-hook.cjs');
const packages = require('./application-packages.ts');

const command = new Command('pack')
  .description('Packs the libraries into dist/packages, and for an application into its folder vendor.')
  .argument('[application]', 'the folder of an application that is to install them')
  .option('--write', 'write the entries into the files of the application')
  .parse();
const [path] = command.args;
const { write } = command.opts();
if (write && path === undefined) command.error('pack: --write needs an application: npm run pack -- ../shop --write');

// What is wrong with the application is said before the libraries are built.
const application = path === undefined ? undefined : read(path);
build();
const folder = join(repository, 'dist', 'packages');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const packed = packLibraries(folder);
if (application === undefined) for (const { tarball } of packed) console.log(relative(repository, tarball));
else supply(application);

function read(name) {
  try {
    // npm runs a script in the repository, wherever its caller is.
    return packages.readApplication(resolve(process.env.INIT_CWD ?? '.', name));
  } catch (error) {
    if (!(error instanceof packages.ApplicationError)) throw error;
    return command.error(`pack: ${error.message}`);
  }
}

function build() {
  for (const script of ['clean:libs', 'build:packages']) {
    const { status } = spawnSync('npm', ['run', '--silent', script], { cwd: repository, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}

function supply(to) {
  const needed = packages.neededPackages(to, packed);
  const edits = packages.entriesFor(to, needed);
  for (const file of packages.layTarballs(to, needed)) console.log(`copied   ${file}`);
  for (const edit of edits) {
    if (write) packages.writeEdit(edit);
    const name = relative(to.folder, edit.file);
    console.log(write ? `changed  ${name}: ${edit.field.join('.')}` : `\n${name}\n${packages.showEdit(edit)}`);
  }
  if (write) packages.removeOldTarballs(to, needed, packed);
  else console.log('');
  console.log(`next     ${to.manager} install (${to.shownBy}), and commit vendor with the lock file`);
}
