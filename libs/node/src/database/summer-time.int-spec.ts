import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { startMariadb } from '../../../../test/support/servers/private-servers.js';
import { testDatabase } from '../../../../test/support/servers/test-databases.js';
import { mysqlDialect } from './mysql-dialect.js';
import { postgresDialect } from './postgres-dialect.js';

/** This year's rules of New York: a private server knows no zone by its name. */
const NEW_YORK = [
  "INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (99, 'N')",
  "INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Test/New_York', 99)",
  `INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, \`Offset\`, Is_DST, Abbreviation)
   VALUES (99, 0, -18000, 0, 'EST'), (99, 1, -14400, 1, 'EDT')`,
  `INSERT INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id)
   VALUES (99, ${Date.UTC(2026, 2, 8, 7) / 1_000}, 1), (99, ${Date.UTC(2026, 10, 1, 6) / 1_000}, 0)`,
];

describe('summer time', () => {
  // Both times of a New York clock that shows 01:30 twice on 1 November 2026, and around the hour it skips in March.
  const MOMENTS = ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-03-08T06:59:59Z', '2026-03-08T07:00:00Z'];

  let source: DataSource | undefined;
  let server: PrivateServer | undefined;

  afterEach(async () => {
    await source?.destroy();
    await server?.stop();
    source = server = undefined;
  });

  it('does not change what PostgreSQL says the time is', async () => {
    const database = await testDatabase('postgres');
    source = await new DataSource(database.options).initialize();
    const runner = source.createQueryRunner();
    await runner.query("SET TIME ZONE 'America/New_York'");
    for (const moment of MOMENTS) {
      const nowMs = postgresDialect.nowMs.replace('clock_timestamp()', `'${moment}'::timestamptz`);
      expect(nowMs).toContain(moment);
      const [row] = (await runner.query(`SELECT ${nowMs} AS now_ms`)) as { now_ms: string }[];
      expect(Number(row!.now_ms)).toBe(Date.parse(moment));
    }
    await runner.release();
  });

  it('does not change what MariaDB says the time is', async () => {
    server = await startMariadb();
    const database = await testDatabase('mariadb', server.url);
    source = await new DataSource(database.options).initialize();
    const runner = source.createQueryRunner();
    for (const sql of NEW_YORK) await runner.query(sql);
    const naive: number[] = [];
    for (const moment of MOMENTS) {
      const seconds = Date.parse(moment) / 1_000;
      await runner.query(`SET SESSION time_zone = 'Test/New_York', timestamp = ${seconds}`);
      const [row] = (await runner.query(
        `SELECT ${mysqlDialect('+00:00').nowMs} AS now_ms, UNIX_TIMESTAMP(NOW()) AS naive`,
      )) as { now_ms: string; naive: string }[];
      expect(Number(row!.now_ms)).toBe(seconds * 1_000);
      naive.push(Number(row!.naive) - seconds);
    }
    // The obvious expression loses an hour in autumn: the zone was in force.
    expect(naive.map(Math.abs)).toContain(3_600);
    await runner.release();
  });

  it('and the zone of a host change no ID: the same moments give the same ones everywhere', async () => {
    const script = `
      const { createLayout } = require('@raindrop/core');
      const layout = createLayout({ timeUnit: 'hour', timeStampLength: 40, workIdLength: 3, startTimeStamp: '2024-01-01 00:00:00' }, Date.now());
      const at = (text) => layout.pack({ tick: layout.timeline.tickAt(Date.parse(text)), workerId: 1, clockBack: 0, sequence: 0 });
      console.log(JSON.stringify({
        ids: ${JSON.stringify(MOMENTS)}.map((text) => String(at(text))),
        fingerprint: layout.fingerprint,
        local: new Date('2024-01-01 00:00:00').getTime(),
      }));`;
    const hook = join(__dirname, '../../../../test/typescript-hook.cjs');
    const answers = await Promise.all(
      ['UTC', 'America/New_York', 'Australia/Lord_Howe'].map(async (TZ) => {
        const run = promisify(execFile)(process.execPath, ['--require', hook, '-e', script], {
          env: { ...process.env, TZ },
        });
        return JSON.parse((await run).stdout) as { ids: string[]; fingerprint: string; local: number };
      }),
    );
    expect(new Set(answers.map(({ local }) => local)).size).toBe(3);
    expect(new Set(answers.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(new Set(answers.map(({ ids }) => ids.join())).size).toBe(1);
    expect(new Set(answers[0]!.ids).size).toBe(4);
  });
});
