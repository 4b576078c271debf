/**
 * Runs the `npm start` of the README's first block as it stands there, asks the service for an ID and stops it with
 * Ctrl-C's signal: `node test/readme/start.mjs`, after `npm ci`. A step of its own, because it builds: no test may run
 * beside it.
 */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const [, command] = /^npm ci && (npm start)\b/m.exec(readFileSync(join(root, 'README.md'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'raindrop-start-'));
const env = { ...process.env, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'raindrop.sqlite')}` };
const child = spawn('sh', ['-c', command], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
const ended = once(child, 'close');
const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 120_000);

try {
  let printed = '';
  const address = new Promise((settle) => {
    const read = (chunk) => {
      const url = /click (http:\S+?)\/docs\b/.exec((printed += chunk))?.[1];
      if (url !== undefined) settle(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const url = await Promise.race([address, ended.then(() => assert.fail(`${command} ended; it printed:\n${printed}`))]);
  const answer = await fetch(`${url}/v1/ids?count=3`, { method: 'POST' });
  const { ids } = await answer.json();
  assert.equal(new Set(ids).size, 3);
  process.kill(-child.pid, 'SIGINT');
  await ended;
  console.log(`${command}: ${url} issued ${ids.join(', ')}`);
} finally {
  clearTimeout(timer);
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
