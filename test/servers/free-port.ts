import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux (32768) and macOS (49152). */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * A port on 127.0.0.1 that nothing listens on.
 *
 * Drawn by us and not by the system (`listen(0)`): the system draws from the ports it also hands to outgoing
 * connections, so while a test has the server killed, any client could be given its port and block the restart.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) {
      return port;
    }
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST} on 127.0.0.1 in 100 draws`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
