import { Client, type ClientConfig } from 'pg';
import { databaseIdSql, type DatabaseIdOptions, type SnowflakeModuleOptions, workerTableSql } from '@raindrop/node';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';

/** The steps before which a session can be held, and the texts of the functions before which they stand. */
const STEPS = {
  /** The open tick is read, and no place is drawn. */
  draw: 'place := pg_catalog.nextval',
  /** A place is drawn, and not compared with the open tick. */
  compare: 'IF ((place OPERATOR(pg_catalog.>>)',
  /** The lock is held, and nothing is read. */
  read: 'opened := pg_sequence_last_value',
  /** The next tick is chosen, and the counter is not set. */
  set: 'PERFORM setval(POSITION, (',
  /** The counter is set, and the tick is not noted as open. */
  note: 'PERFORM setval(TICK, next_tick)',
} as const;

export type Step = keyof typeof STEPS;

export const steps = Object.keys(STEPS) as Step[];

/** A second with 8 places, so that ticks are used up. */
export const SMALL: SnowflakeModuleOptions = {
  startTimeStamp: '2024-01-01',
  timeUnit: 'second',
  timeStampLength: 48,
  workIdLength: 10,
  endBitsLength: 1,
};

/** How the function is installed. */
export interface Installation {
  readonly options?: SnowflakeModuleOptions;
  readonly ids?: DatabaseIdOptions;
  /** Changes the statement: a broken rule. */
  readonly broken?: (sql: string) => string;
  /** Another server than that of the run. */
  readonly url?: string;
  /** The functions as they are, with the server's clock and waits. Default false: see {@link steered}. */
  readonly isAsItIs?: boolean;
  /** The time at which the clock stands still from the start. */
  readonly stoppedAt?: string;
  /** Leaves the installation to {@link IssuingDatabase.install}. Default true. */
  readonly isInstalled?: boolean;
}

/** The answer of the function: an ID, or the SQLSTATE with which it was refused. */
export type Answer = bigint | string;

/** A PostgreSQL with the function, whose clock and steps belong to the test. */
export class IssuingDatabase {
  private readonly sessions: IssuingSession[] = [];

  private constructor(
    private readonly database: TestDatabase,
    private admin: IssuingSession,
  ) {}

  /** Makes a database, with a worker table and the function. The clock is the server's until it is stepped. */
  static async open({
    options = SMALL,
    ids,
    broken = (sql) => sql,
    url,
    isAsItIs = false,
    stoppedAt,
    isInstalled = true,
  }: Installation = {}): Promise<IssuingDatabase> {
    const database = await testDatabase('postgres', url);
    const admin = await IssuingSession.connect(database);
    const opened = new IssuingDatabase(database, admin);
    try {
      for (const sql of workerTableSql('postgres', 'soc_raindrop_worker')) await admin.run(sql);
      await admin.run(OF_TESTS);
      if (stoppedAt !== undefined) await opened.stopClock(stoppedAt);
      const sql = databaseIdSql(options, ids);
      if (isInstalled) await admin.run(broken(isAsItIs ? sql : steered(sql)));
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  get settings(): TestDatabase['options'] {
    return this.database.options;
  }

  async session(): Promise<IssuingSession> {
    const session = await IssuingSession.connect(this.database);
    this.sessions.push(session);
    return session;
  }

  run(sql: string): Promise<Record<string, unknown>[]> {
    return this.admin.run(sql);
  }

  /** Installs the function, or renews it. */
  async install(options: SnowflakeModuleOptions = SMALL, ids: DatabaseIdOptions = {}): Promise<void> {
    await this.admin.run(steered(databaseIdSql(options, ids)));
  }

  /** Steps the clock of the functions. */
  async stepClock(ms: number): Promise<void> {
    await this.run(`SELECT setval('test_clock_offset', last_value + ${ms}) FROM test_clock_offset`);
  }

  /** Lets the clock of the functions stand still at a time. */
  async stopClock(time: string): Promise<void> {
    await this.run(
      `CREATE OR REPLACE FUNCTION test_clock() RETURNS timestamptz LANGUAGE sql AS $$ SELECT timestamptz '${time}' $$`,
    );
  }

  /** Connects again, after the server was killed and started. */
  async reconnect(): Promise<void> {
    await this.admin.end();
    this.admin = await IssuingSession.connect(this.database);
  }

  /** Whether a session is held before a step. */
  async isHeld({ pid }: IssuingSession): Promise<boolean> {
    const [found] = await this.run(
      `SELECT count(*)::int AS held FROM pg_locks WHERE pid = ${pid} AND locktype = 'advisory' AND classid = 8 AND granted`,
    );
    return found!['held'] === 1;
  }

  /** Holds every session that comes to a step for which it was told to stop, until {@link letGo}. */
  async hold(session: IssuingSession): Promise<void> {
    await this.run(`SELECT pg_advisory_lock(7, ${session.pid})`);
  }

  async letGo(session: IssuingSession): Promise<void> {
    await this.run(`SELECT pg_advisory_unlock(7, ${session.pid})`);
  }

  async close(): Promise<void> {
    // Also those that are held, after a test that has failed.
    for (const { pid } of this.sessions) await this.run(`SELECT pg_terminate_backend(${pid})`);
    await Promise.all(this.sessions.map((session) => session.end()));
    await this.admin.end();
    await this.database.drop();
  }
}

/** A connection, and the ID or refusal that its last call gave. */
export class IssuingSession {
  private isEnded = false;

  private constructor(
    private readonly client: Client,
    readonly pid: number,
  ) {}

  static async connect({ options }: TestDatabase): Promise<IssuingSession> {
    const { host, port, username, password, database } = options as unknown as Record<string, string>;
    const client = new Client({ host, port, user: username, password, database } as unknown as ClientConfig);
    // The test terminates some.
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return new IssuingSession(client, rows[0]!.pid);
  }

  async run(sql: string): Promise<Record<string, unknown>[]> {
    const found = await this.client.query<Record<string, unknown>>(sql);
    return found.rows;
  }

  /** The next IDs, or the refusal in place of all of them. */
  async draw(count = 1): Promise<Answer[]> {
    try {
      const found = await this.run(`SELECT raindrop_id()::text AS id FROM generate_series(1, ${count})`);
      return found.map(({ id }) => BigInt(id as string));
    } catch (error) {
      return [codeOf(error)];
    }
  }

  /** Closes the open tick, as a fence that ends in the past. */
  async fence(): Promise<void> {
    await this.run('SELECT raindrop_id_close(0, false)').catch(() => undefined);
  }

  /** Names the step before which the next call of this connection waits, once the test has called `hold()`. */
  async stopBefore(step: Step | 'none'): Promise<void> {
    await this.run(`SELECT set_config('test.step', '${step}', false)`);
  }

  async end(): Promise<void> {
    if (!this.isEnded) await this.client.end().catch(() => {});
    this.isEnded = true;
  }
}

/** The SQLSTATE; of a session that was terminated 57P01. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: string };
  return code ?? '57P01';
}

/** The clock: an offset that no rollback takes back. A step: a lock that the test holds. */
const OF_TESTS = `
CREATE SEQUENCE test_clock_offset MINVALUE -1000000000000 START 0;
CREATE FUNCTION test_clock() RETURNS timestamptz LANGUAGE sql AS
  $$ SELECT pg_catalog.clock_timestamp() + make_interval(secs => last_value / 1000.0) FROM public.test_clock_offset $$;
CREATE FUNCTION test_step(step text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('test.step', true) = step THEN
    PERFORM pg_advisory_lock(8, pg_backend_pid());
    WHILE NOT pg_try_advisory_lock(7, pg_backend_pid()) LOOP PERFORM pg_sleep(0.001); END LOOP;
    PERFORM pg_advisory_unlock(7, pg_backend_pid()), pg_advisory_unlock(8, pg_backend_pid());
  END IF;
END $$`;

/**
 * The statement with the clock and the steps of a test. Where it would wait for the clock it refuses, and for the lock it
 * waits 50 ms.
 */
export function steered(sql: string): string {
  let text = sql
    .replaceAll('pg_catalog.clock_timestamp()', 'public.test_clock()')
    .replaceAll("SET lock_timeout = '3s'", "SET lock_timeout = '50ms'")
    .replace(
      'PERFORM pg_sleep(wait_ms / 1000.0)',
      "IF wait_ms > 0 THEN RAISE EXCEPTION USING ERRCODE = 'RD001'; END IF",
    );
  for (const [step, before] of Object.entries(STEPS)) {
    const place = before.replace('POSITION', '{position}::regclass').replace('TICK', '{tick}::regclass');
    if (!text.includes(place)) throw new Error(`the functions have no step ${step}: ${place}`);
    text = text.replaceAll(place, `PERFORM public.test_step('${step}'); ${place}`);
  }
  return text;
}
