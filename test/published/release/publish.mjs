/**
 * `npm run release:publish`: publishes the tarballs that `npm run pack` has made, each unless its version is there
 * already, so that a run that failed half-way can be repeated. npm authenticates itself by OIDC (trusted publishing);
 * NPM_TOKEN is for the first version of a package. The dry run publishes with this, too.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const { raindrop } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const LIBRARIES = ['core', 'node', 'typeorm', 'orm', 'nestjs', 'cli'];

const read = (key) => execFileSync('npm', ['config', 'get', key], { cwd: root, encoding: 'utf8' }).trim();
const scoped = read(`${raindrop.scope}:registry`);
const registry = new URL(scoped === 'undefined' ? read('registry') : scoped);

const { NPM_TOKEN, ...environment } = process.env;
const env = NPM_TOKEN
  ? { ...environment, [`npm_config_//${registry.host}${registry.pathname}:_authToken`]: NPM_TOKEN }
  : environment;
// npm can vouch for where a package was built only there.
const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ['--provenance'] : [];

const folder = join(root, 'dist', 'packages');
for (const library of LIBRARIES) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'libs', library, 'package.json'), 'utf8'));
  const file = `${name.slice(1).replace('/', '-')}-${version}.tgz`;
  if (!readdirSync(folder).includes(file)) throw new Error(`${file} is missing: npm run pack`);
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { cwd: root, env, encoding: 'utf8' });
  if (stdout.trim() === version) {
    console.log(`${name}@${version} is published already`);
    continue;
  }
  const args = ['publish', join(folder, file), '--access', 'public', ...provenance];
  execFileSync('npm', args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
}
