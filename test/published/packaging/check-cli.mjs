import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const COMMAND_MS = 30_000;
const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];
const DATABASE = ['--url', 'sqlite:cli.sqlite'];

/** The `raindrop` command of an app that has installed it: it starts, plans, and issues on SQLite. */
export function checkCli(folder, packages) {
  const { manifest } = packages.find((library) => library.manifest.name === '@raindrop/cli');
  const raindrop = (...args) => runRaindrop(folder, args);
  assert.equal(raindrop('--version'), `${manifest.version}\n`);
  const plan = JSON.parse(raindrop('plan', ...LAYOUT, '--json'));
  assert.equal(plan.fingerprint, '1000@1767225600:t33.w3.b1.s25.e1=0');
  assert.equal(JSON.parse(raindrop('init', ...LAYOUT, ...DATABASE, '--json')).rows, 7);
  const { ids } = JSON.parse(raindrop('next', '-n', '3', ...LAYOUT, ...DATABASE, '--json'));
  assert.equal(new Set(ids).size, 3);
  const decoded = JSON.parse(raindrop('decode', ...ids, ...LAYOUT, '--json'));
  assert.deepEqual(
    decoded.map(({ id }) => id),
    ids,
  );
}

function runRaindrop(folder, args) {
  const environment = Object.entries(process.env).filter(([name]) => !/^(RAINDROP_|DATABASE_URL$)/.test(name));
  const { status, signal, stdout, stderr } = spawnSync(join(folder, 'node_modules', '.bin', 'raindrop'), args, {
    cwd: folder,
    env: Object.fromEntries(environment),
    encoding: 'utf8',
    timeout: COMMAND_MS,
    killSignal: 'SIGKILL',
  });
  const end = signal ?? `code ${status}`;
  if (status !== 0) throw new Error(`raindrop ${args.join(' ')} failed (${end})\n${stdout}${stderr}`);
  assert.equal(stderr, '', `raindrop ${args.join(' ')} wrote to stderr`);
  return stdout;
}
