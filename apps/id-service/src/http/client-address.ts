import { isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ProblemException } from '../problems/problem.js';

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
  const detail = 'X-Forwarded-For must contain IP addresses, one for each proxy that TRUST_PROXY counts.';
  throw new ProblemException(400, { errorCode: 'BAD_REQUEST', detail });
}

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The client that an address is counted for: the address itself, and of IPv6 its network of 64 bits, because a client
 * that has one such network has 2^64 addresses.
 * @param address as Node writes it; anything else stands for itself
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const inside = IPV4_IN_IPV6.exec(address)?.[1];
  if (inside !== undefined) return inside;
  const [left, right] = address.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const zeros = Array<string>(8 - left!.length - (right?.length ?? 0)).fill('0');
  const groups = [...left!, ...zeros].slice(0, 4);
  return `${groups.map((group) => parseInt(group, 16).toString(16)).join(':')}::/64`;
}
