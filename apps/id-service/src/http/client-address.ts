import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ProblemException } from '../problems/problem.exception.js';

const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

/**
 * Whose request it is: the address of the connection, or what the proxies of `TRUST_PROXY` say, some of them with a port.
 * @throws ProblemException 400 when they pass on what is no address, for anybody could be anybody then
 */
export function clientAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  if (isIP(ip) !== 0) return ip;
  const [, v6, v4] = WITH_PORT.exec(ip) ?? [];
  const address = v6 ?? v4 ?? '';
  if (isIP(address) !== 0) return address;
  const detail = 'X-Forwarded-For must hold IP addresses, for as many proxies as TRUST_PROXY says.';
  throw new ProblemException(400, { errorCode: 'BAD_REQUEST', detail });
}
