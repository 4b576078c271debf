import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeTo } from '../../../../test/proof/contract/worker-store.contract.js';
import { FileWorkerStore, stateFileLease } from './file-worker-store.js';
import type { IssuerSetup } from '../../../../test/support/state-file/state-file-issuer.js';
import { temporaryDirectory } from '../../../../test/support/state-file/temporary-directory.js';
import { until } from '../../../../test/support/until.js';

const HOOK = resolve(__dirname, '../../../../test/typescript-hook.cjs');
/** So short that many restarts fit into a test. */
const QUICK = {
  heartbeatIntervalMs: 80,
  opTimeoutMs: 300,
  leaseMs: 400,
  horizonMs: 400,
  graceMs: 0,
  waitForWorkerMs: 20_000,
};
/** How often a process is started that finds its disk too busy. */
const STARTS = 10;

let directory: string;
let drop: () => void;
let path: string;
let idsFile: string;
const children = new Set<ChildProcess>();

beforeEach(() => {
  ({ directory, drop } = temporaryDirectory());
  [path, idsFile] = [join(directory, 'workers'), join(directory, 'ids')];
});

afterEach(async () => {
  await Promise.all([...children].map((child) => killed(child)));
  drop();
});

/** A process that has issued its first IDs. One whose disk was too busy at the start is started again. */
async function issuing(setup: Partial<IssuerSetup>): Promise<ChildProcess> {
  for (let starts = 1; ; starts++) {
    const child = forked(setup);
    const [message] = (await once(child, 'message')) as [unknown];
    if (message === 'issuing') return child;
    await killed(child);
    if (starts === STARTS || !JSON.stringify(message).includes('StoreUnavailableError'))
      expect(message).toBe('issuing');
  }
}

function forked(setup: Partial<IssuerSetup>): ChildProcess {
  const all: IssuerSetup = { path, lease: QUICK, workers: 1, clockOffsetMs: 0, idsFile, ...setup };
  const child = fork(join(__dirname, '../../../../test/support/state-file/state-file-issuer.ts'), {
    execArgv: ['--require', HOOK],
    env: { ...process.env, RAINDROP_TEST_ISSUER: JSON.stringify(all) },
  });
  children.add(child);
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  children.delete(child);
}

const issuedCount = (): number => (existsSync(idsFile) ? Math.floor(statSync(idsFile).size / 8) : 0);

/** Waits until so many more IDs are in the file. */
async function moreIssued(ids: number): Promise<void> {
  const wanted = issuedCount() + ids;
  await until(`${ids} more IDs`, () => issuedCount() >= wanted);
}

function repeats(): { count: number; repeated: number } {
  const bytes = readFileSync(idsFile);
  const count = Math.floor(bytes.length / 8);
  const seen = new Set<bigint>();
  for (let index = 0; index < count; index++) seen.add(bytes.readBigInt64LE(index * 8));
  return { count, repeated: count - seen.size };
}

it('a single row repeats no ID through 20 times kill -9 and restart with a clock that is set back', async () => {
  // The clock is right, then 700 ms behind, and right again: every second restart comes before the last IDs.
  for (let restart = 0; restart <= 20; restart++) {
    const child = await issuing({ clockOffsetMs: restart % 2 === 0 ? 0 : -700 });
    await moreIssued(100 + ((restart * 37) % 150) * 10);
    await killed(child);
  }
  const { count, repeated } = repeats();
  expect(count).toBeGreaterThan(2_000);
  expect(repeated).toBe(0);
});

it('without the file the same restarts repeat IDs: the control', async () => {
  const clockStartsAt = Date.now();
  let restarts = 0;
  // Each clock starts where the first one did; how soon a process then issues is not in our hands.
  do {
    const child = await issuing({ path: undefined, clockStartsAt });
    await moreIssued(2_000);
    await killed(child);
  } while (repeats().repeated <= 100 && ++restarts < 15);
  expect(repeats().repeated).toBeGreaterThan(100);
});

it('a clock that is an hour behind after kill -9 holds no start up longer than the lease, twice', async () => {
  for (const clockOffsetMs of [0, -3_600_000, -3_600_000]) {
    // A process that had to wait longer than this would not start.
    const child = await issuing({ clockOffsetMs, lease: { ...QUICK, waitForWorkerMs: 10_000 } });
    await moreIssued(500);
    await killed(child);
  }
  expect(repeats().repeated).toBe(0);
});

it('with the lease that is proposed, a killed process is followed by another one within its 3 s', async () => {
  await killed(await issuing({ lease: stateFileLease }));
  const [left] = (await new FileWorkerStore({ path }).readTable()).rows;
  expect(left!.token).not.toBe('');
  // All that the next one waits for: there is no grace, and nothing was reserved past the lease.
  expect(left!.leaseUntilMs).toBeLessThanOrEqual(Date.now() + 3_000);
  expect(left!.odometers[0].ms).toBeLessThanOrEqual(Date.now() + 3_000);
  const child = await issuing({ lease: stateFileLease });
  child.send('close');
  await once(child, 'exit');
  // After an end in order there is nothing to wait for.
  await issuing({ lease: { ...stateFileLease, waitForWorkerMs: 0 } });
  expect(repeats().repeated).toBe(0);
});

it('eight processes that start at once on one file have eight rows, and repeat no ID while half of them are killed and replaced', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => issuing({ workers: 8, lease: stateFileLease })));
  const { rows } = await new FileWorkerStore({ path }).readTable();
  expect(rows.filter(({ token }) => token !== '')).toHaveLength(8);
  await Promise.all(all.slice(0, 4).map((child) => killed(child)));
  await Promise.all(Array.from({ length: 4 }, () => issuing({ workers: 8, lease: stateFileLease })));
  await moreIssued(1_000);
  const { count, repeated } = repeats();
  expect(count).toBeGreaterThan(1_000);
  expect(repeated).toBe(0);
});

it('kill -9 before any call of the file system leaves a complete version, with all that was acknowledged', async () => {
  const script = join(__dirname, '../../../../test/support/state-file/mortal-writer.ts');
  const run = async (diesAt: number): Promise<{ acknowledged: number; ended: boolean }> => {
    const child = spawn(process.execPath, ['--require', HOOK, script, path, String(diesAt), '2'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(child, 'close');
    const lines = output.split('\n').filter((line) => line !== '');
    const ended = lines.at(-1) === 'end';
    return { acknowledged: Number(lines.at(ended ? -2 : -1) ?? 0), ended };
  };
  let last = 0;
  for (let diesAt = 0; ; diesAt++) {
    // The first ones begin without a file, the others on what the one before has left.
    const { acknowledged, ended } = await run(diesAt);
    const store = new FileWorkerStore({ path });
    await store.prepare({ min: 1, max: 1 });
    const { row } = await store.readRow(1);
    const ms = row!.odometers[0].ms;
    if (acknowledged > 0) expect([acknowledged, acknowledged + 1]).toContain(ms);
    expect(ms).toBeGreaterThanOrEqual(last);
    // The next write leaves nothing of what the killed one had begun.
    expect(await store.write(writeTo(row!, { token: '', leaseMs: 0 }))).toBe(true);
    const [version] = readdirSync(path);
    expect([readdirSync(directory), readdirSync(join(path, version!))]).toEqual([['workers'], [version]]);
    last = ms;
    if (ended) break;
    if (diesAt >= 60) throw new Error('the writer does not come to an end');
  }
  expect(last).toBeGreaterThan(5);
});
