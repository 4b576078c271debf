/**
 * Runs the `npm start` of the README's first block as it stands there, asks the service for an ID and stops it with
 * Ctrl-C's signal: `node test/published/docs/readme-start.mjs`, after `npm ci`. A step of its own, because it builds: no test may run
 * beside it.
 */
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
require('../../typescript-hook.cjs');
const { Child } = require('../../support/processes/child.ts');

const root = join(import.meta.dirname, '../../..');
const [, command] = /^npm ci && (npm start)\b/m.exec(readFileSync(join(root, 'README.md'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'raindrop-start-'));
const environment = { PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'raindrop.sqlite')}` };
const child = new Child(['sh', '-c', command], { cwd: root, environment, hasGroup: true });

try {
  const [, url] = await child.says(/click (http:\/\/[^\s/]+)\//);
  const answer = await fetch(`${url}/v1/ids?count=3`, { method: 'POST' });
  const { ids } = await answer.json();
  assert.equal(new Set(ids).size, 3);
  await child.end('SIGINT');
  console.log(`${command}: ${url} issued ${ids.join(', ')}`);
} finally {
  await child.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
