import { isIPv6 } from 'node:net';

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Whom an address stands for: itself, or of IPv6 its network of 64 bits, for whoever has one has 2^64 addresses.
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
