import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPgbouncer } from '../chaos/engines/pgbouncer.js';
import { kill } from '../processes/forked.js';
import { installPrograms } from '../servers/install-programs.js';
import { startMariadb, startPostgres } from '../servers/private-servers.js';
import type { PrivateServer } from '../servers/private-server.js';
import { PAIR_DATABASE, PAIR_ACCOUNTS } from '../servers/server-pair.js';
import { serverAddress } from '../servers/server-address.js';
import { withMysqlSession, withPostgresSession, type RunSql } from '../servers/sql-session.js';
import { isStartable, oneByOne, type Figure, type Measurement, type StartableKind } from './figure.js';
import { cpuOfTree } from './process-tree.js';

const LEASES = 1_000;
const PROCESSES = 4;
/** Of the default heartbeat, 20 s, three. */
const WATCH_MS = 60_000;
const ASK_MS = 10_000;
const MOST_CONNECTIONS = 2_200;
const LIMIT_PERCENT = 7;

/** What 1,000 leases cost that do nothing but renew: their processes, the server, and its connections. */
export const manyLeases: Figure = {
  name: 'many-leases',
  measure: (bench) => oneByOne(bench, (kind) => (isStartable(kind) ? measureServer(kind) : Promise.resolve([]))),
};

interface Report {
  readonly cpuMs: number;
  readonly ready: number;
}

async function measureServer(kind: StartableKind): Promise<Measurement[]> {
  if (kind === 'mariadb') {
    const server = await startMariadb([`--max-connections=${MOST_CONNECTIONS}`]);
    const address = serverAddress(server.url, server.port);
    try {
      const ask = <T>(work: (run: RunSql) => Promise<T>): Promise<T> => withMysqlSession(address, ASK_MS, work);
      await ask((run) => run(`CREATE DATABASE ${PAIR_DATABASE}`));
      const connections = 'SELECT count(*) AS answer FROM information_schema.processlist WHERE db IS NOT NULL';
      return [
        await measureLeases(kind, server, { port: server.port, ...PAIR_ACCOUNTS.mariadb }, () =>
          ask((run) => run(connections)),
        ),
      ];
    } finally {
      await server.stop();
    }
  }
  await installPrograms({ pgbouncer: 'pgbouncer' });
  const server = await startPostgres(['-c', `max_connections=${MOST_CONNECTIONS}`]);
  const { port } = server;
  const front = await startPgbouncer({ main: port, side: port }, { clients: MOST_CONNECTIONS, lifetimeS: 60 });
  try {
    const connections = (): Promise<Record<string, unknown>[]> =>
      withPostgresSession(serverAddress(server.url, port), ASK_MS, (run) =>
        run(`SELECT count(*) - 1 AS answer FROM pg_stat_activity WHERE backend_type = 'client backend'`),
      );
    const direct = { port, ...PAIR_ACCOUNTS.postgres };
    return [
      await measureLeases(kind, server, direct, connections),
      await measureLeases(`${kind} by PgBouncer`, server, front.wayTo('main', PAIR_ACCOUNTS.postgres), connections),
    ];
  } finally {
    await front.stop();
    await server.stop();
  }
}

async function measureLeases(
  database: string,
  server: PrivateServer,
  dbConfig: object,
  countConnections: () => Promise<Record<string, unknown>[]>,
): Promise<Measurement> {
  const processes = Array.from({ length: PROCESSES }, () =>
    fork(resolve(__dirname, 'lease-holder.cjs'), { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  try {
    const options = { dbConfig: { host: '127.0.0.1', ...dbConfig }, startTimeStamp: '2026-01-01', timeStampLength: 33 };
    const beganMs = performance.now();
    const open = { count: LEASES / PROCESSES, options: { ...options, workIdLength: 10 } };
    await Promise.all(processes.map((each) => ask(each, { open })));
    const startsASecond = (LEASES * 1_000) / (performance.now() - beganMs);
    const look = async (): Promise<{ own: number; server: number; ready: number }> => {
      const reports = await Promise.all(processes.map((each) => ask(each, {})));
      const sum = (of: (report: Report) => number): number => reports.reduce((total, each) => total + of(each), 0);
      return { own: sum(({ cpuMs }) => cpuMs), server: cpuOfTree(server.pid!), ready: sum(({ ready }) => ready) };
    };
    const before = await look();
    await sleep(WATCH_MS);
    const after = await look();
    const [row] = await countConnections();
    await Promise.all(processes.map((each) => ask(each, { close: true })));
    const percent = (from: number, to: number): number => ((to - from) * 100) / WATCH_MS;
    const [own, theirs] = [percent(before.own, after.own), percent(before.server, after.server)];
    return {
      figure: `${LEASES} leases in ${PROCESSES} processes, renewed every 20 s`,
      database,
      target: `at most ${LIMIT_PERCENT} % of a core for the processes, and for the server`,
      measured: `processes ${own.toFixed(1)} %, server ${theirs.toFixed(1)} %; ${String(row!['answer'])} connections; ${after.ready} ready; ${startsASecond.toFixed(0)} starts a second`,
      ok: own <= LIMIT_PERCENT && theirs <= LIMIT_PERCENT && after.ready === LEASES,
    };
  } finally {
    await Promise.all(processes.map((each) => kill(each)));
  }
}

async function ask(child: ChildProcess, order: object): Promise<Report> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(600_000) });
  child.send(order);
  return (await answer)[0] as Report;
}
