import { createLayout, parseId } from '@raindrop/core';
import { DataSource } from 'typeorm';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { databaseUrl } from '../service/service-process.js';
import { jsonHere, raindropHere } from './cli-in-process.js';

const BITS = { startTimeStamp: '2016-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;
const FLAGS = ['--start', '2016-01-01', '--timestamp-bits', '33', '--worker-bits', '10', '--end-bits', '1'];
const layout = createLayout(BITS, Date.now());

describe.each(kindsInTurn(__filename))('raindrop backfill on %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  let args: string[];
  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
    await admin.query('CREATE TABLE orders (id BIGINT PRIMARY KEY)');
    args = ['backfill', ...FLAGS, '--max-worker', '2', '--url', databaseUrl(database.options), '--from', '2016-04-01'];
    // SQLite needs a file; elsewhere the command creates the table as a service does.
    expect(await raindropHere(['init', ...args.slice(1, -2)])).toMatchObject({ code: 0 });
  });
  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  it('writes an ID of each time on stdin, in their order', async () => {
    const times = [
      '2016-04-01',
      '2016-04-01T00:00:01Z',
      '2016-04-01T00:00:01Z',
      '1500000000000',
      '2020-01-01 12:00:00',
    ];
    const { code, stdout, stderr } = await raindropHere([...args, '--table', 'orders'], times.join('\n'));
    expect([code, stderr]).toEqual([0, '']);
    const ids = stdout.trim().split('\n');
    expect(ids.map((id) => parseId(layout, id).time.toISOString())).toEqual([
      '2016-04-01T00:00:00.000Z',
      '2016-04-01T00:00:01.000Z',
      '2016-04-01T00:00:01.000Z',
      '2017-07-14T02:40:00.000Z',
      '2020-01-01T12:00:00.000Z',
    ]);
    expect(new Set(ids).size).toBe(5);
  });

  it('writes one JSON document, and finds what the tables have', async () => {
    const run = (more: readonly string[]) => raindropHere([...args, ...more, '--json'], '2016-04-02\n2016-04-03\n');
    const seen = new Set<string>();
    for (let each = 0; each < 4; each++) {
      const { stdout } = await run(['--no-table']);
      const { workerId, lane, ids } = JSON.parse(stdout) as { workerId: number; lane: number; ids: string[] };
      expect(ids.map((id) => parseId(layout, id))).toMatchObject([{ workerId, clockBack: lane }, { workerId }]);
      seen.add(`${workerId}/${lane}`);
      for (const id of ids) await admin.query(`INSERT INTO orders VALUES (${id})`);
    }
    expect(seen.size).toBe(4);
    expect((await run(['--table', 'orders'])).stderr).toContain('NO_ROW_FOR_PAST');
  });

  it('is made possible by init and adopt, which ask for the oldest row', async () => {
    const url = ['--url', databaseUrl(database.options)];
    const init = (...more: string[]) => raindropHere(['init', ...url, '--table', 'early', ...more]);
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await init('--oldest', '2016-04-01', ...more);
      expect(code).toBe(2);
      expect(stderr).toContain('the layout begins at 2026-01-01T00:00:00.000Z');
      expect(stderr).toContain('--start 2016-01-01');
    }
    expect(await init('--oldest', '2016-04-01', ...FLAGS)).toMatchObject({ code: 0 });
    await admin.query('INSERT INTO orders VALUES (48211)');
    const { result } = await jsonHere<{ options: object }>([
      'adopt',
      ...url,
      '--table',
      'orders',
      '--oldest',
      '2016-04-01',
    ]);
    expect(result.options).toMatchObject({ startTimeStamp: '2016-01-01' });
  });

  it.each([
    ['2016-04-02\n2016-04-01', 'TIME_ORDER'],
    ['2016-04-02\nsoon', 'line 2 of stdin: soon'],
    ['', 'stdin has no times'],
    ['2015-01-01', 'TIME_ORDER'],
  ])('refuses %j on stdin', async (input, says) => {
    const { code, stderr } = await raindropHere([...args, '--no-table', '--json'], input);
    expect(code).not.toBe(0);
    expect(stderr).toContain(says);
  });
});
