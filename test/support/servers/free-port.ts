import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { LEDGER_VARIABLE } from './run-ledger';

/** Below the ephemeral ports of Linux (32768) and macOS (49152). */
const LOWEST = 15_000;
const HIGHEST = 32_000;

const given = new Set<number>();

/**
 * A port on 127.0.0.1 that nothing listens on, and that no other test of this run was given: some servers take seconds
 * before they listen.
 *
 * Drawn by us and not by the system (`listen(0)`): the system draws from the ports it also hands to outgoing
 * connections, so while a test has the server killed, any client could be given its port and block the restart.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (claim(port) && (await canListen(port))) {
      return port;
    }
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST} on 127.0.0.1 in 100 draws`);
}

/** Whether this is the first to ask for a port: the tests of a run mark theirs by a file beside its ledger. */
function claim(port: number): boolean {
  if (given.has(port)) return false;
  given.add(port);
  const ledger = process.env[LEDGER_VARIABLE];
  if (ledger === undefined) return true;
  try {
    closeSync(openSync(join(dirname(ledger), `port-${port}`), 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
