import { setTimeout as sleep } from 'node:timers/promises';
import autocannon, { type Result } from 'autocannon';
import type { PrivateServer } from '../servers/private-server.js';
import { startMariadb } from '../servers/private-servers.js';
import { testDatabase } from '../servers/test-databases.js';
import { databaseUrl, startDemo } from './demo-process.js';
import { FiredIds } from './fired-ids.js';

export interface Fire {
  readonly seconds: number;
  /** When the database is killed, and when it is started again: parts of the whole. */
  readonly killedAt: number;
  readonly restartedAt: number;
  readonly leaseMs: number;
}

export interface FireReport {
  /** How often each status came; 503s by their error code. */
  readonly answers: Readonly<Record<string, number>>;
  /** Connections that broke, and time-outs. */
  readonly errors: number;
  readonly ids: number;
  readonly repeated: readonly bigint[];
  /** Readiness before, in the middle of, and after the outage. */
  readonly ready: readonly number[];
  /** Liveness at the same moments. */
  readonly alive: readonly number[];
  /** Entries that both processes have printed, each a line of JSON. */
  readonly logged: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 20;
const IDS_IN_A_REQUEST = 10;

/** {@link fireAtService} with a MariaDB that is there for this only. */
export async function fireAtServiceAlone(fire: Fire): Promise<FireReport> {
  const server = await startMariadb();
  try {
    return await fireAtService(fire, server);
  } finally {
    await server.stop();
  }
}

/** Two processes of the service under load, with their MariaDB killed and started again in the middle. */
export async function fireAtService(
  { seconds, killedAt, restartedAt, leaseMs }: Fire,
  server: PrivateServer,
): Promise<FireReport> {
  const database = await testDatabase('mariadb', server.url);
  try {
    const environment = { RAINDROP_LEASE_MS: String(leaseMs), RATE_LIMIT: '0', LOG_FORMAT: 'json' };
    const start = (): ReturnType<typeof startDemo> =>
      startDemo({ databaseUrl: databaseUrl(database.options), environment });
    const demos = [await start(), await start()];
    try {
      const ids = new FiredIds();
      const answers: Record<string, number> = {};
      const ready: number[] = [];
      const alive: number[] = [];
      const lookAtHealth = async (): Promise<void> => {
        ready.push((await fetch(`${demos[0]!.url}/health/ready`)).status);
        alive.push((await fetch(`${demos[0]!.url}/health/live`)).status);
      };

      const loads = demos.map(({ url }) => load(url, seconds, ids, answers));
      await lookAtHealth();
      await sleep(seconds * killedAt * 1_000);
      await server.kill('SIGKILL');
      await sleep(seconds * (restartedAt - killedAt) * 1_000);
      await lookAtHealth();
      await server.restart();
      const results = await Promise.all(loads);
      await lookAtHealth();
      return {
        answers,
        errors: results.reduce((sum, { errors, timeouts }) => sum + errors + timeouts, 0),
        ids: ids.count,
        repeated: ids.repeated(),
        ready,
        alive,
        logged: demos.flatMap((demo) => demo.output().trim().split('\n').map(readEntry)).length,
        p99Ms: Math.max(...results.map(({ latency }) => latency.p99)),
      };
    } finally {
      await Promise.all(demos.map((demo) => demo.stop('SIGKILL')));
    }
  } finally {
    await database.drop();
  }
}

function load(url: string, seconds: number, ids: FiredIds, answers: Record<string, number>): Promise<Result> {
  const count = (name: string): void => void (answers[name] = (answers[name] ?? 0) + 1);
  const onResponse = (status: number, body: string): void => {
    if (status === 201) ids.add(body);
    count(status < 400 ? String(status) : `${status} ${errorCodeOf(body)}`);
  };
  const path = `/v1/ids?count=${IDS_IN_A_REQUEST}`;
  return autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    timeout: 15,
    requests: [{ method: 'POST', path, onResponse }],
  });
}

/** @throws Error for a line that is no entry */
function readEntry(line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    throw new Error(`a line of the log is no JSON: ${line}`);
  }
}

function errorCodeOf(body: string): string {
  try {
    return String((JSON.parse(body) as { errorCode?: unknown }).errorCode);
  } catch {
    return 'without a code';
  }
}
