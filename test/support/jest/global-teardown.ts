import { rmSync } from 'node:fs';
import { dropDatabases } from '../servers/database-admin';
import { ObtainedServer } from '../servers/obtain-server';
import { reasonOf } from '../servers/reason-of';
import { closeLedger, LeftOutTest, LEDGER_VARIABLE, MadeDatabase } from '../servers/run-ledger';
import { serverFacts } from '../servers/server-kind';
import { DatabaseKind, sqliteVersion } from '../servers/test-databases';
import { takeTestRun, TestRun } from './test-run';

/**
 * Clears away what tests left, stops what the set-up started, and ends the run's output with the databases it really
 * ran on and with what was left out. Jest calls it after its own summary, also when tests failed.
 */
export default async function globalTeardown(): Promise<void> {
  const run = takeTestRun();
  const ledger = process.env[LEDGER_VARIABLE];
  if (run === undefined || ledger === undefined) {
    return;
  }
  const { databases, leftOut } = closeLedger(ledger);
  const settled = await Promise.allSettled(
    run.servers.map((server) => finish(server, namesOf(server.kind, databases))),
  );
  restoreEnvironment(run);
  rmSync(run.directory, { recursive: true, force: true, maxRetries: 10 });

  const lines = run.servers.map(({ kind, version, how }) =>
    line(serverFacts[kind].title, version, how, kind, databases),
  );
  lines.push(line('SQLite', sqliteVersion(), 'embedded', 'sqlite', databases));
  const troubles = settled.flatMap((result) => (result.status === 'rejected' ? [reasonOf(result.reason)] : []));
  // To the stream of jest's own summary, so that it stays the last thing whatever is redirected.
  process.stderr.write(
    `\nDatabases of this run:\n${lines.map((text) => `  ${text}\n`).join('')}${tellLeftOut(leftOut)}`,
  );
  if (troubles.length > 0) {
    throw new Error(`the test servers could not be cleared away:\n${troubles.join('\n')}`);
  }
}

function restoreEnvironment({ variables, usualTmpdir }: TestRun): void {
  for (const variable of variables) {
    delete process.env[variable];
  }
  if (usualTmpdir === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = usualTmpdir;
}

function namesOf(kind: ObtainedServer['kind'] | DatabaseKind, made: readonly MadeDatabase[]): string[] {
  return made.filter((entry) => entry.kind === kind).map((entry) => entry.name);
}

async function finish(server: ObtainedServer, databases: readonly string[]): Promise<void> {
  if (server.stop !== undefined) {
    await server.stop();
  } else if (server.kind !== 'redis' && databases.length > 0) {
    await dropDatabases(server.kind, server.url, databases);
  }
}

function line(
  title: string,
  version: string,
  how: string,
  kind: ObtainedServer['kind'] | DatabaseKind,
  databases: readonly MadeDatabase[],
): string {
  const made = namesOf(kind, databases).length;
  const count = kind === 'redis' ? '' : `, ${made} test ${made === 1 ? 'database' : 'databases'}`;
  return `${title} ${version} (${how})${count}`;
}

function tellLeftOut(tests: readonly LeftOutTest[]): string {
  const whats = [...new Set(tests.map(({ what }) => what))];
  const lines = whats.map((what) => {
    const missing = tests.filter((test) => test.what === what);
    const reason = missing[0]!.reason.replaceAll('\n', '\n    ');
    return `  ${what}: ${missing.length} ${missing.length === 1 ? 'test' : 'tests'}. ${reason}\n`;
  });
  return lines.length === 0
    ? ''
    : `\nLeft out, because it is not here (RAINDROP_TEST_REQUIRE=all forbids it):\n${lines.join('')}`;
}
