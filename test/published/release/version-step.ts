import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runOrThrow } from './run-or-throw.js';

const ROOT = resolve(__dirname, '../../..');
const LIBRARIES = ['libs/core', 'libs/node', 'libs/typeorm', 'libs/orm', 'libs/nestjs', 'libs/cli'];
/** All that `npm run release:version` reads and writes. */
const COPIED = [
  ...['package.json', 'package-lock.json', 'CHANGELOG.md', '.changeset', 'bench/package.json', 'docs/service.md'],
  ...['deploy/kubernetes/kustomization.yaml', 'libs/nestjs/src/opentelemetry.ts'],
  ...[
    'tools/no-scarf/package.json',
    'tools/sqlite-on-node-20/package.json',
    'tools/sqlite-on-node-20/after-install.cjs',
  ],
  ...LIBRARIES.map((folder) => `${folder}/package.json`),
  ...readdirSync(join(ROOT, 'examples')).map((name) => `examples/${name}/package.json`),
];

interface Manifest {
  readonly version: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Makes the next version in a copy: a change of one package that is minor must lead all of them, with the peers that
 * they are to each other, to the same minor version, and the changelog to it.
 */
export async function tryNextVersion(copy: string, scope: string): Promise<string> {
  mkdirSync(copy);
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  for (const name of readdirSync(join(copy, '.changeset')).filter((each) => each.endsWith('.md'))) {
    rmSync(join(copy, '.changeset', name));
  }
  writeFileSync(join(copy, '.changeset', 'a-try.md'), `---\n'${scope}/core': minor\n---\n\nA try.\n`);
  await runOrThrow('git init -q', copy);
  await runOrThrow(`node '${join(__dirname, 'version.mjs')}' '${copy}'`, copy);

  const read = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const [major, minor] = read(join(ROOT, 'libs/core')).version.split('.').map(Number) as [number, number];
  const wanted = `${major}.${minor + 1}.0`;
  for (const { version, peerDependencies = {} } of LIBRARIES.map((folder) => read(join(copy, folder)))) {
    const ours = Object.entries(peerDependencies).filter(([name]) => name.startsWith(`${scope}/`));
    const found = [version, ...ours.map(([, range]) => range)];
    if (found.some((each) => each !== wanted)) throw new Error(`it made ${found.join(', ')} in place of ${wanted}`);
  }
  if (!readFileSync(join(copy, 'CHANGELOG.md'), 'utf8').includes(`\n## [Unreleased]\n\n## [${wanted}] - `)) {
    throw new Error('the changelog was not cut');
  }
  return wanted;
}
