// Jest loads this file and what it imports through Node's own `require`, out of reach of `moduleNameMapper`: in this
// folder relative imports therefore have no ending.
import { AptInstall } from './apt-install';
import { LEDGER_VARIABLE, openLedger } from './database-ledger';
import { obtainServer } from './obtain-server';
import { reasonOf } from './reason-of';
import { serverFacts, ServerKind } from './server-kind';
import { rememberTestRun } from './test-run';
import { waysTo } from './ways';

/**
 * Finds or starts every server, in parallel, and names them in the environment that the test processes inherit.
 *
 * @throws Error, one for all, when a server is missing; what was started until then is stopped.
 */
export default async function globalSetup(): Promise<void> {
  const kinds: ServerKind[] = ['mariadb', 'postgres', 'redis'];
  if (process.env[serverFacts.mysql.variable]) {
    kinds.push('mysql');
  }
  const apt = new AptInstall();
  const outcomes = await Promise.allSettled(
    kinds.map(async (kind) => obtainServer(kind, waysTo(kind, process.env, apt))),
  );
  const servers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [reasonOf(outcome.reason)] : []));
  if (failures.length > 0) {
    await Promise.allSettled(servers.map(async (server) => server.stop?.()));
    throw new Error(failures.join('\n'));
  }

  const additions = new Map(servers.map(({ kind, url }) => [serverFacts[kind].variable, url]));
  additions.set(LEDGER_VARIABLE, openLedger());
  const variables = [...additions.keys()].filter((variable) => !process.env[variable]);
  for (const variable of variables) {
    process.env[variable] = additions.get(variable);
  }
  rememberTestRun({ servers, variables });
}
