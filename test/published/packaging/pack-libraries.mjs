import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../../..');

/**
 * Packs the libraries as `npm publish` would.
 *
 * @returns one entry for each: its folder and package.json, the path of the tarball and the paths of the files inside
 */
export function packLibraries(directory) {
  return ['libs/core', 'libs/node', 'libs/typeorm', 'libs/nestjs', 'libs/cli'].map((name) => {
    const folder = join(repository, name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (!existsSync(join(folder, manifest.main))) {
      throw new Error(`${name} is not built: run "npm run build:libs" first`);
    }
    const output = execFileSync('npm', ['pack', '--json', '--pack-destination', directory, '--workspace', name], {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    // A list in npm up to 11, an object by package name in later ones.
    const [packed] = Object.values(JSON.parse(output));
    const files = packed.files.map((file) => file.path);
    return { folder, manifest, tarball: join(directory, packed.filename), files };
  });
}
