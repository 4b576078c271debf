/**
 * `npm run release:version`: what .changeset asks for becomes the next version. Changesets writes it into the packages
 * and their peers; the same version is written here to every other place that names it, and the changelog is cut.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The repository, or a copy of it. */
const root = resolve(process.argv[2] ?? join(import.meta.dirname, '../../..'));
const read = (path) => readFileSync(join(root, path), 'utf8');
const versionOf = () => JSON.parse(read('libs/core/package.json')).version;

const changeset = join(import.meta.dirname, 'node_modules/@changesets/cli/bin.js');
const before = versionOf();
execFileSync(process.execPath, [changeset, 'version'], { cwd: root, stdio: 'inherit' });
const version = versionOf();
if (version === before) throw new Error('nothing in .changeset asks for a release');

const { raindrop } = JSON.parse(read('package.json'));
const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/package.json`);
const places = [
  ...['package.json', 'bench/package.json', ...examples].map((path) => [
    path,
    new RegExp(`(?<="(?:version|${raindrop.scope}/\\w+)": ")[^"]+`, 'g'),
  ]),
  ['libs/nestjs/src/opentelemetry.ts', /(?<=VERSION = ')[^']+/g],
  ['deploy/kubernetes/kustomization.yaml', /(?<=newTag: )\S+/g],
  ['docs/service.md', /(?<=raindrop-id-service:)\d\S*/g],
];
for (const [path, pattern] of places) {
  const text = read(path);
  if (text.search(pattern) === -1) throw new Error(`${path} names no version`);
  writeFileSync(join(root, path), text.replace(pattern, version));
}

const changelog = read('CHANGELOG.md');
const heading = `## [Unreleased]\n\n## [${version}] - ${new Date().toISOString().slice(0, 10)}`;
writeFileSync(join(root, 'CHANGELOG.md'), changelog.replace('## [Unreleased]', heading));
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: root, stdio: 'inherit' });
console.log(`${before} is ${version} now: read CHANGELOG.md, commit, merge, then push the tag v${version}`);
