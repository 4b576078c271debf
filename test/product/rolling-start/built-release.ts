import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const SCOPE = '@raindrop';

/**
 * Builds the libraries as they were at a commit of this repository, from its history and with the packages of today.
 * @param directory is made; it holds the whole tree of that commit
 * @throws Error when the history is not here, as in a shallow clone, or does not build
 */
export function buildRelease(commit: string, directory: string): void {
  mkdirSync(directory, { recursive: true });
  const tree = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 256 * 1_024 * 1_024 });
  execFileSync('tar', ['x'], { cwd: directory, input: tree });
  const [ours, theirs] = [join(ROOT, 'node_modules'), join(directory, 'node_modules')];
  mkdirSync(join(theirs, SCOPE), { recursive: true });
  for (const name of readdirSync(ours)) {
    if (name !== SCOPE) symlinkSync(join(ours, name), join(theirs, name));
  }
  for (const name of readdirSync(join(ours, SCOPE))) {
    const library = basename(realpathSync(join(ours, SCOPE, name)));
    symlinkSync(join(directory, 'libs', library), join(theirs, SCOPE, name));
  }
  execFileSync(process.execPath, [join(theirs, 'typescript/bin/tsc'), '-b', 'tsconfig.build.json'], { cwd: directory });
}
