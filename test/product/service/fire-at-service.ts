import { setTimeout as sleep } from 'node:timers/promises';
import autocannon, { type Instance } from 'autocannon';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb } from '../../support/servers/private-servers.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { databaseUrl, startServiceProcess } from './service-process.js';
import { FiredIds } from './fired-ids.js';

export interface Fire {
  /** How long each part lasts at least: before the database is killed, while it is away, and afterwards. */
  readonly seconds: readonly [before: number, away: number, after: number];
  readonly leaseMs: number;
  /** What the outage goes on for: many IDs without a refusal, or refusals. */
  readonly until: 'served' | 'refused';
}

/** So many IDs show that a part of it is served. */
const MANY_IDS = 4_000;
/** How long a part may take that never shows what it is there for. */
const PART = { withinMs: 120_000 };
const LONGER_THAN_ALL_S = 7_200;

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
  { seconds: [before, away, after], leaseMs, until: goal }: Fire,
  server: PrivateServer,
): Promise<FireReport> {
  const database = await testDatabase('mariadb', server.url);
  try {
    const environment = { RAINDROP_LEASE_MS: String(leaseMs), RATE_LIMIT: '0', LOG_FORMAT: 'json' };
    const start = (): ReturnType<typeof startServiceProcess> =>
      startServiceProcess({ databaseUrl: databaseUrl(database.options), environment });
    const services = [await start(), await start()];
    try {
      const ids = new FiredIds();
      const answers: Record<string, number> = {};
      const ready: number[] = [];
      const alive: number[] = [];
      const lookAtHealth = async (): Promise<void> => {
        ready.push((await fetch(`${services[0]!.url}/health/ready`)).status);
        alive.push((await fetch(`${services[0]!.url}/health/live`)).status);
      };

      const moreIds = (): Promise<boolean> => {
        const wanted = ids.count + MANY_IDS;
        return until('the service to serve', () => ids.count >= wanted, PART);
      };
      const isReady = async (): Promise<boolean> => (await fetch(`${services[0]!.url}/health/ready`)).status === 200;

      const loads = services.map(({ url }) => load(url, ids, answers));
      await lookAtHealth();
      await Promise.all([sleep(before * 1_000), moreIds()]);
      await server.kill('SIGKILL');
      // A call waits some seconds before it is refused.
      const refuses = async (): Promise<boolean> =>
        Object.keys(answers).some((name) => name.startsWith('503')) && !(await isReady());
      const shown = goal === 'served' ? moreIds() : until('the service to refuse', refuses, PART);
      await Promise.all([sleep(away * 1_000), shown]);
      await lookAtHealth();
      await server.restart();
      await until('the service to be ready again', isReady, PART);
      await Promise.all([sleep(after * 1_000), moreIds()]);
      await lookAtHealth();
      for (const each of loads) each.stop();
      const results = await Promise.all(loads);
      return {
        answers,
        errors: results.reduce((sum, { errors, timeouts }) => sum + errors + timeouts, 0),
        ids: ids.count,
        repeated: ids.repeated(),
        ready,
        alive,
        logged: services.flatMap((service) => service.output().trim().split('\n').map(readEntry)).length,
        p99Ms: Math.max(...results.map(({ latency }) => latency.p99)),
      };
    } finally {
      await Promise.all(services.map((service) => service.stop('SIGKILL')));
    }
  } finally {
    await database.drop();
  }
}

function load(url: string, ids: FiredIds, answers: Record<string, number>): Instance {
  const count = (name: string): void => void (answers[name] = (answers[name] ?? 0) + 1);
  const onResponse = (status: number, body: string): void => {
    if (status === 201) ids.add(body);
    count(status < 400 ? String(status) : `${status} ${errorCodeOf(body)}`);
  };
  const path = `/v1/ids?count=${IDS_IN_A_REQUEST}`;
  return autocannon({
    url,
    connections: CONNECTIONS,
    duration: LONGER_THAN_ALL_S,
    timeout: 60,
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
