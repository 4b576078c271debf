import { connect } from 'node:net';
import { ServerAddress } from './server-address';

/** Encodes a command as RESP, Redis' wire protocol (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
function command(...words: string[]): string {
  return `*${words.length}\r\n` + words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('');
}

/**
 * Asks a Redis server for its version over a plain socket: enough to probe with, without a client library.
 *
 * @throws Error with the server's own words when it refuses (a password is wanted), or when it says nothing in time.
 */
export function redisVersion(address: ServerAddress, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address.host, port: address.port });
    let reply = '';
    const settle = (settled: () => void): void => {
      socket.destroy();
      settled();
    };
    socket.setTimeout(timeoutMs, () => settle(() => reject(new Error(`no answer in ${timeoutMs} ms`))));
    socket.on('error', (error) => settle(() => reject(error)));
    socket.on('close', () => reject(new Error('the connection was closed without an answer')));
    socket.on('connect', () => {
      const login = address.user === '' ? [address.password] : [address.user, address.password];
      socket.write((address.password === '' ? '' : command('AUTH', ...login)) + command('INFO', 'server'));
    });
    socket.on('data', (chunk) => {
      reply += chunk.toString('utf8');
      const version = /^redis_version:(\S+)\r$/m.exec(reply)?.[1];
      const refusal = /^-(.*)\r$/m.exec(reply)?.[1];
      if (version !== undefined) {
        settle(() => resolve(version));
      } else if (refusal !== undefined) {
        settle(() => reject(new Error(refusal)));
      }
    });
  });
}
