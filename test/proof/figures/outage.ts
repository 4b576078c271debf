import Sqlite from 'better-sqlite3';
import type { TestOptions } from '../../support/servers/test-databases.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { FlakyProxy } from '../../support/proxies/flaky-proxy.js';
import type { SqlServerKind } from '../../support/servers/database-admin.js';
import { probeServer } from '../../support/servers/probe-server.js';
import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { isServer, isStartable, type Bench, type Measurement, type StartableKind } from './figure.js';

/** How a database becomes unreachable. */
export type OutageKind = 'killed' | 'silent' | 'locked';

/** A database that can be taken away and given back. */
export interface Outage {
  readonly options: TestOptions;
  /** Takes the database away for about `ms`; answers how long it was away, and since when it is back (monotonic ms). */
  happen(ms: number): Promise<{ readonly lastedMs: number; readonly backAtMs: number }>;
  end(): Promise<void>;
}

/** The ways in which this kind of database fails: the process is killed, the network goes silent, a file is locked. */
function outagesOf(kind: DatabaseKind): readonly OutageKind[] {
  if (isStartable(kind)) return ['killed', 'silent'];
  return isServer(kind) ? ['silent'] : ['locked'];
}

/** Measures the same in every outage that the bench's databases have, all at once. */
export function inEveryOutage(
  bench: Bench,
  measure: (outage: Outage, how: OutageKind, kind: DatabaseKind) => Promise<Measurement>,
): Promise<Measurement[]> {
  const measureOne = async (how: OutageKind, kind: DatabaseKind): Promise<Measurement> => {
    const outage = await prepareOutage(how, kind, bench);
    try {
      return await measure(outage, how, kind);
    } finally {
      await outage.end();
    }
  };
  return Promise.all(bench.kinds.flatMap((kind) => outagesOf(kind).map((how) => measureOne(how, kind))));
}

function prepareOutage(how: OutageKind, kind: DatabaseKind, bench: Bench): Promise<Outage> {
  if (how === 'locked' || !isServer(kind)) return lockedFile(bench);
  return how === 'killed' && isStartable(kind) ? killedServer(kind, bench) : silentNetwork(kind, bench);
}

async function killedServer(kind: StartableKind, bench: Bench): Promise<Outage> {
  const server = await bench.ownServer(kind);
  const { options } = await bench.ownDatabase(kind);
  return {
    options,
    async happen(ms) {
      const beganMs = performance.now();
      await server.kill('SIGKILL');
      await sleep(ms - (performance.now() - beganMs));
      const [backAtMs] = await Promise.all([firstAnswer(() => probeServer(kind, server.url)), server.restart()]);
      return { lastedMs: backAtMs - beganMs, backAtMs };
    },
    end: () => Promise.resolve(),
  };
}

/** When an attempt began that was answered: not after the moment in which connections are accepted again. */
async function firstAnswer(attempt: () => Promise<unknown>): Promise<number> {
  for (;;) {
    const beganMs = performance.now();
    try {
      await attempt();
      return beganMs;
    } catch {
      await sleep(5);
    }
  }
}

async function silentNetwork(kind: SqlServerKind, bench: Bench): Promise<Outage> {
  const { options } = await bench.database(kind);
  const { host, port } = options as { host: string; port: number };
  const proxy = await FlakyProxy.start({ host, port });
  return {
    options: { ...options, host: '127.0.0.1', port: proxy.port } as TestOptions,
    async happen(ms) {
      const beganMs = performance.now();
      proxy.silenceAfter(0);
      await sleep(ms + 5);
      proxy.recover();
      const backAtMs = performance.now();
      return { lastedMs: backAtMs - beganMs, backAtMs };
    },
    end: () => proxy.stop(),
  };
}

/** SQLite has no server to lose: another program keeps the file locked. */
async function lockedFile(bench: Bench): Promise<Outage> {
  const { options } = await bench.database('sqlite');
  return {
    options,
    async happen(ms) {
      const other = new Sqlite(String(options.database), { timeout: 5_000 });
      other.exec('BEGIN EXCLUSIVE');
      const beganMs = performance.now();
      await sleep(ms + 5);
      other.exec('ROLLBACK');
      const backAtMs = performance.now();
      other.close();
      return { lastedMs: backAtMs - beganMs, backAtMs };
    },
    end: () => Promise.resolve(),
  };
}
