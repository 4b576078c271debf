import type { WorkerWrite } from '@raindrop/core';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { openStore } from '../../support/stores/open-store.js';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../support/servers/test-databases.js';
import { repeated } from '../../support/processes/repeated.js';

jest.setTimeout(240_000);

const BUILDER = resolve(__dirname, 'snapshot-builder.cjs');
const BUILT = resolve(__dirname, '../../../libs/nestjs/dist/index.js');

/** What the snapshot's memory holds. */
interface Snapshot {
  readonly blob: string;
  /** The write that acquired its worker. */
  readonly write: WorkerWrite;
  readonly id: string;
}

interface Report {
  /** The error of the first call. */
  readonly refusal?: string;
  readonly workerId: number;
  /** Of every write since the start. */
  readonly tokens: readonly string[];
  readonly ids: readonly string[];
  /** From `randomUUID`. */
  readonly uuid: string;
}

describe('Two processes from one start-up snapshot that holds a worker', () => {
  let directory: string;
  beforeAll(() => {
    if (!existsSync(BUILT))
      throw new Error(`${BUILT} is missing: run npm run build:libs first (npm run test:all does)`);
    directory = mkdtempSync(join(tmpdir(), 'raindrop-snapshot-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const build = async (...mode: string[]): Promise<Snapshot> => {
    const blob = join(directory, `${mode.join()}.blob`);
    const args = ['--snapshot-blob', blob, '--build-snapshot', BUILDER, ...mode];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return { blob, ...(JSON.parse(stdout) as Omit<Snapshot, 'blob'>) };
  };

  const running: ChildProcess[] = [];
  afterEach(() => running.splice(0).forEach((child) => child.kill('SIGKILL')));

  /** A process from the snapshot; it holds its worker until `end`. */
  const startFrom = (
    { blob }: Snapshot,
    { options }: TestDatabase,
  ): { report: Promise<Report>; end(): Promise<unknown> } => {
    const child = spawn(process.execPath, ['--snapshot-blob', blob, 'main', JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    running.push(child);
    const ended = once(child, 'close');
    const line = once(createInterface(child.stdout), 'line') as Promise<[string]>;
    const silent = ended.then(([code]) => Promise.reject(new Error(`the process ended with ${code} and said nothing`)));
    silent.catch(() => undefined);
    return {
      report: Promise.race([line, silent]).then(([text]) => JSON.parse(text) as Report),
      end: () => {
        child.stdin.end();
        return ended;
      },
    };
  };

  /** The database as it was when the snapshot was taken. */
  const databaseOf = async ({ write }: Snapshot, kind: DatabaseKind): Promise<TestDatabase> => {
    const database = await testDatabase(kind);
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 3 });
    // Nothing is written to a server that has not been looked at.
    await store.readTable();
    expect(await store.write(write)).toBe(true);
    await store.rememberLayout(write.layout);
    await store.close();
    return database;
  };

  it.each(databaseKinds)('refuse to go on with it, and share neither a row, a token nor an ID on %s', async (kind) => {
    const snapshot = await build();
    const database = await databaseOf(snapshot, kind);
    const processes = [startFrom(snapshot, database), startFrom(snapshot, database)];
    const reports = await Promise.all(processes.map(({ report }) => report));
    expect(reports.map(({ refusal }) => refusal)).toEqual(['LEASE_SUSPECT', 'LEASE_SUSPECT']);
    expect(new Set(reports.map(({ workerId }) => workerId)).size).toBe(2);
    const tokens = reports.flatMap((report) => report.tokens);
    expect(new Set([...tokens, snapshot.write.token]).size).toBe(tokens.length + 1);
    const ids = reports.flatMap((report) => report.ids).map(BigInt);
    expect(repeated([...ids, BigInt(snapshot.id)])).toBe(0);
    // A token from here would be the same in both: its entropy is part of the snapshot.
    expect(reports[0]!.uuid).toBe(reports[1]!.uuid);

    await Promise.all(processes.map(({ end }) => end()));
    const store = openStore(database.options);
    const { rows } = await store.readTable();
    expect(rows.filter(({ token }) => token !== '')).toEqual([]);
    await store.close();
    await database.drop();
  });

  it('repeat IDs when they do not see that they are copies', async () => {
    const snapshot = await build('blind');
    const database = await databaseOf(snapshot, 'sqlite');
    const processes = [startFrom(snapshot, database), startFrom(snapshot, database)];
    const reports = await Promise.all(processes.map(({ report }) => report));
    expect(reports.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
    expect(repeated(reports.flatMap((report) => report.ids).map(BigInt))).toBeGreaterThan(1_000);
    await Promise.all(processes.map(({ end }) => end()));
    await database.drop();
  });
});
