import { connect as openSocket } from 'node:net';
import { hostTimers } from '../system/host-timers.js';

const USUAL_PORT = 4_222;

/** Where a server is, by its URL or `host:port`; undefined for what is neither. */
export function placeOf(server: string): { readonly host: string; readonly port: number } | undefined {
  const text = server.includes('://') ? server : `nats://${server}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, username, password } = new URL(text);
  if (hostname === '' || username !== '' || password !== '') return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? USUAL_PORT : Number(port) };
}

/**
 * Resolves when a server says something by itself, as NATS does. The client leaves a socket open for ever when it gives
 * up on a server that is silent; this one is closed in any case.
 * @throws Error in words of the system, or when it says nothing in time
 */
export function hearsFrom(server: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(placeOf(server)!);
    const timer = hostTimers.setTimeout(() => socket.destroy(new Error(`${server} says nothing`)), timeoutMs).unref();
    socket.once('data', () => {
      resolve();
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => {
      hostTimers.clearTimeout(timer);
      reject(new Error(`${server} hangs up`));
    });
  });
}
