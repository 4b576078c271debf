import { DataSource } from 'typeorm';
import {
  databaseIdSql,
  type IdService,
  openBackfill,
  openIdService,
  parseId,
  readIssuer,
  readWorkers,
  workerTableSql,
} from '@raindrop/node';
import { SILENT } from '../../support/module/start-app.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { jsonHere, raindropHere } from '../cli/cli-in-process.js';
import { databaseUrl } from '../service/service-process.js';

const OPTIONS = {
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 3,
  serviceMaxWorkId: 3,
  endBitsLength: 1,
} as const;
const FLAGS = ['--start=2026-01-01', '--timestamp-bits=33', '--worker-bits=3', '--max-worker=3', '--end-bits=1'];

/** The worker id of the function, the highest of the range. */
const WORKER = 3;

interface Findings {
  readonly findings: readonly { readonly check: string; readonly state: string; readonly detail: string }[];
}

describe('a worker row of the database', () => {
  let database: TestDatabase;
  let admin: DataSource;
  const opened: IdService[] = [];

  beforeEach(async () => {
    database = await testDatabase('postgres');
    admin = await new DataSource(database.options).initialize();
    for (const sql of workerTableSql('postgres', 'soc_raindrop_worker')) await admin.query(sql);
    await admin.query(databaseIdSql(OPTIONS));
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  const options = (): typeof OPTIONS & { dbConfig: TestDatabase['options'] } => {
    return Object.assign({ dbConfig: database.options }, OPTIONS);
  };
  const open = async (more: object = {}): Promise<IdService> => {
    const ids = await openIdService({ ...options(), logger: SILENT, ...more });
    opened.push(ids);
    return ids;
  };
  const draw = async (): Promise<string> => {
    const [row] = await admin.query<{ id: string }[]>('SELECT raindrop_id()::text AS id');
    return row!.id;
  };
  const cli = (...args: string[]): string[] => [...args, ...FLAGS, '--url', databaseUrl(database.options)];

  it('is shown as what it is: without a lease, and with no odometer at the end of time', async () => {
    const { workers } = await readWorkers(options());
    expect(workers.find(({ workerId }) => workerId === WORKER)).toMatchObject({
      state: 'database',
      holder: 'public.raindrop_id',
      leaseLeftMs: null,
      graceLeftMs: null,
      odometers: [{ time: null }, { time: null }],
    });
    const { stdout } = await raindropHere(cli('workers'));
    expect(stdout).toMatch(/\n *3 +database +0 +- +- +public\.raindrop_id\n1 database/);
    const { result } = await jsonHere<{ counts: object }>(cli('workers'));
    expect(result.counts).toMatchObject({ held: 0, deleted: 0, database: 1 });
  });

  it('is named by who, without a history and beside one, and not for the IDs of processes', async () => {
    const ofDatabase = await draw();
    const ids = await open({ workerHistory: true });
    const ofProcess = ids.nextId();
    const { code, stdout } = await raindropHere(cli('who', ofDatabase));
    expect([code, stdout.split('\n')[1]]).toEqual([0, 'issued by the database: public.raindrop_id()']);
    const { result } = await jsonHere(cli('who', ofDatabase));
    expect(result).toMatchObject({
      finding: 'by-database',
      databaseFunction: 'public.raindrop_id',
      issuer: null,
      workerId: WORKER,
    });
    expect((await readIssuer(ofProcess, options())).finding).not.toBe('by-database');
    // Of a time before the function, and of one that it has not come to.
    for (const hours of [-1, 1]) {
      const shifted = BigInt(ofDatabase) + (BigInt(hours * 3_600) << BigInt(ids.layout.lowBits));
      expect((await readIssuer(shifted, options())).finding).not.toBe('by-database');
    }
  });

  it('is no fault to doctor', async () => {
    await open();
    const { result } = await jsonHere<Findings>(cli('doctor'));
    const faults = result.findings.filter(({ state }) => state !== 'ok').map(({ check }) => check);
    // The process of this test counts against a range of three.
    expect(faults).not.toContain('rows');
    expect(faults).not.toContain('other layouts');
    expect(result.findings).toContainEqual({
      check: 'database ids',
      state: 'ok',
      detail: 'worker 3 issues by public.raindrop_id()',
    });
  });

  it('is given to no process: neither at a start, nor after a fence, nor for the past', async () => {
    const services = [await open({ waitForWorkerMs: 0 }), await open({ waitForWorkerMs: 0 })];
    const workers = services.map((each) => parseId(each.layout, each.nextId()).workerId);
    expect(workers.sort()).toEqual([1, 2]);
    await expect(open({ waitForWorkerMs: 0 })).rejects.toThrow(/worker/);
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await expect(open({ serviceMinWorkId: WORKER, waitForWorkerMs: 0 })).rejects.toThrow(/worker/);
    const backfill = openBackfill({ ...options(), from: new Date('2026-02-01'), tables: [], serviceMinWorkId: WORKER });
    await expect(backfill).rejects.toThrow(/row|worker/);
    expect((await raindropHere(cli('fence', '--yes'))).code).toBe(0);
    const after = await readWorkers(options());
    expect(after.workers.find(({ workerId }) => workerId === WORKER)).toMatchObject({ state: 'database' });
  });

  it('is issued for again after a restore: by a fence, and a new installation, which keeps to the bar', async () => {
    await draw();
    // As a dump has it: a sequence with another file.
    await admin.query('ALTER SEQUENCE raindrop_id_position CACHE 2');
    await raindropHere(cli('fence', '--yes'));
    await expect(draw()).rejects.toMatchObject({ driverError: { code: 'RD002' } });
    const { result } = await jsonHere<{ workerId: number; statements: string[] }>(cli('sql', '--issue'));
    expect(result.workerId).toBe(WORKER);
    await admin.query(result.statements[0]!);
    await expect(draw()).rejects.toMatchObject({ driverError: { code: 'RD001' } });
  });
});
