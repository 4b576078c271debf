// Jest loads this file and what it imports through Node's own `require`, out of reach of `moduleNameMapper`: in this
// folder relative imports therefore have no ending.
import { rmSync } from 'node:fs';
import { AptInstall } from '../servers/apt-install';
import { installTools } from '../servers/installed-tools';
import { obtainServer } from '../servers/obtain-server';
import { reasonOf } from '../servers/reason-of';
import { makeRunDirectory } from '../servers/run-directory';
import { LEDGER_VARIABLE, openLedger } from '../servers/run-ledger';
import { serverFacts, ServerKind } from '../servers/server-kind';
import { MISSING_VARIABLE } from '../servers/server-url';
import { rememberTestRun } from './test-run';
import { waysTo } from '../servers/ways';

/**
 * Finds or starts every server, in parallel, and names them in the environment that the test processes inherit. Tests
 * of a server that could not be had are left out.
 *
 * @throws Error, one for all, when a server is missing and RAINDROP_TEST_REQUIRE is `all`; what was started until then
 * is stopped.
 */
export default async function globalSetup(): Promise<void> {
  const began = performance.now();
  const directory = makeRunDirectory();
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  const kinds: ServerKind[] = ['mariadb', 'postgres', 'redis'];
  if (process.env[serverFacts.mysql.variable]) {
    kinds.push('mysql');
  }
  const apt = new AptInstall();
  const [outcomes] = await Promise.all([
    Promise.allSettled(kinds.map(async (kind) => obtainServer(kind, waysTo(kind, process.env, apt)))),
    installTools(apt),
  ]);
  const servers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const missing = Object.fromEntries(
    outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [[kinds[index]!, reasonOf(outcome.reason)]] : [],
    ),
  );
  if (process.env['RAINDROP_TEST_REQUIRE'] === 'all' && Object.keys(missing).length > 0) {
    await Promise.allSettled(servers.map(async (server) => server.stop?.()));
    rmSync(directory, { recursive: true, force: true });
    throw new Error(Object.values(missing).join('\n'));
  }

  const additions = new Map(servers.map(({ kind, url }) => [serverFacts[kind].variable, url]));
  additions.set(MISSING_VARIABLE, JSON.stringify(missing));
  additions.set(LEDGER_VARIABLE, openLedger());
  const variables = [...additions.keys()].filter((variable) => !process.env[variable]);
  for (const variable of variables) {
    process.env[variable] = additions.get(variable);
  }
  rememberTestRun({ servers, variables, directory, usualTmpdir: usual });
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stderr.write(`servers are up after ${seconds} s, ${Math.round(apt.installedMs / 1_000)} s of them apt-get\n`);
}
