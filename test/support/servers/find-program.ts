import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { MissingForTests } from '../jest/missing-for-tests';

/** Where servers live that are not in everybody's PATH: /usr/sbin on Debian, Homebrew's folders on macOS. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/**
 * The first runnable file of that name: in `preferred` folders, then PATH, then the usual folders.
 *
 * @throws MissingForTests that says where was looked.
 */
export function findProgram(name: string, preferred: readonly string[] = []): string {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = [...preferred, ...path, ...SERVER_FOLDERS].map((folder) => join(folder, name)).find(isRunnable);
  if (found === undefined) {
    throw new MissingForTests(name, `it is not in ${[...preferred, 'PATH', ...SERVER_FOLDERS].join(', ')}`);
  }
  return found;
}

/** Debian keeps PostgreSQL's server programs out of PATH, one folder for each major version; newest first. */
export function postgresFolders(root = '/usr/lib/postgresql'): string[] {
  try {
    const versions = readdirSync(root).sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a));
    return versions.map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
