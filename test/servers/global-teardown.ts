import { rmSync } from 'node:fs';
import { dropDatabases } from './database-admin';
import { closeLedger, LEDGER_VARIABLE, LedgerEntry } from './database-ledger';
import { ObtainedServer } from './obtain-server';
import { reasonOf } from './reason-of';
import { serverFacts } from './server-kind';
import { DatabaseKind, sqliteVersion } from './test-databases';
import { takeTestRun } from './test-run';

/**
 * Clears away what tests left, stops what the set-up started, and ends the run's output with the databases it really
 * ran on. Jest calls it after its own summary, also when tests failed.
 */
export default async function globalTeardown(): Promise<void> {
  const run = takeTestRun();
  const ledger = process.env[LEDGER_VARIABLE];
  if (run === undefined || ledger === undefined) {
    return;
  }
  const entries = closeLedger(ledger);
  for (const variable of run.variables) {
    delete process.env[variable];
  }
  const settled = await Promise.allSettled([
    ...run.servers.map((server) => finish(server, namesOf(server.kind, entries))),
    ...namesOf('sqlite', entries).map((directory) => removeDirectory(directory)),
  ]);

  const lines = run.servers.map(({ kind, version, how }) => line(serverFacts[kind].title, version, how, kind, entries));
  lines.push(line('SQLite', sqliteVersion(), 'embedded', 'sqlite', entries));
  const troubles = settled.flatMap((result) => (result.status === 'rejected' ? [reasonOf(result.reason)] : []));
  // To the stream of jest's own summary, so that it stays the last thing whatever is redirected.
  process.stderr.write(`\nDatabases of this run:\n${lines.map((text) => `  ${text}\n`).join('')}`);
  if (troubles.length > 0) {
    throw new Error(`the test servers could not be cleared away:\n${troubles.join('\n')}`);
  }
}

function namesOf(kind: ObtainedServer['kind'] | DatabaseKind, entries: readonly LedgerEntry[]): string[] {
  return entries.filter((entry) => entry.kind === kind).map((entry) => entry.name);
}

async function finish(server: ObtainedServer, databases: readonly string[]): Promise<void> {
  if (server.stop !== undefined) {
    await server.stop();
  } else if (server.kind !== 'redis' && databases.length > 0) {
    await dropDatabases(server.kind, server.url, databases);
  }
}

function removeDirectory(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  return Promise.resolve();
}

function line(
  title: string,
  version: string,
  how: string,
  kind: ObtainedServer['kind'] | DatabaseKind,
  entries: readonly LedgerEntry[],
): string {
  const made = namesOf(kind, entries).length;
  const count = kind === 'redis' ? '' : `, ${made} test ${made === 1 ? 'database' : 'databases'}`;
  return `${title} ${version} (${how})${count}`;
}
