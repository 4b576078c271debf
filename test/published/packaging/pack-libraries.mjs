import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../../..');

export const LIBRARIES = ['core', 'node', 'typeorm', 'orm', 'nestjs', 'cli'].map((name) => `libs/${name}`);

/**
 * Packs libraries as `npm publish` would.
 *
 * @returns one entry for each: its folder and package.json, the path of the tarball and the paths of the files inside
 */
export function packLibraries(directory, names = LIBRARIES) {
  const libraries = names.map((name) => {
    const folder = join(repository, name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const entries = Object.values(manifest.exports).filter((entry) => typeof entry === 'object');
    if (!entries.every((entry) => existsSync(join(folder, entry.default)))) {
      throw new Error(`${name} is not built: run "npm run build:packages" first`);
    }
    return { folder, manifest };
  });
  const workspaces = names.flatMap((name) => ['--workspace', name]);
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', directory, ...workspaces], {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // A list in npm up to 11, an object by package name in later ones.
  const packed = Object.values(JSON.parse(output));
  return libraries.map(({ folder, manifest }) => {
    const { filename, files } = packed.find(({ name }) => name === manifest.name);
    return { folder, manifest, tarball: join(directory, filename), files: files.map((file) => file.path) };
  });
}
