import { BlockList, isIPv4 } from 'node:net';
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';
import type { AssignedWorkerId, WorkerIdAssigner, WorkerIdRequest } from '@raindrop/core';
import { collisionWarning } from './collision-warning.js';
import { foldIntoRange } from './fold-into-range.js';

/** @see RFC 1918, section 3 */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);

/**
 * The low bits of the host's first private IPv4 address, as many as the layout has worker bits: with 10 of them
 * 192.168.1.108 is worker 364. What lies outside the service's range is folded into it.
 *
 * Unsafe: two processes of a host have the same one, and so have two hosts whose addresses agree in these bits.
 */
export class IpAssigner implements WorkerIdAssigner {
  readonly name = 'ip';
  readonly guarantee = 'unsafe';

  constructor(private readonly interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces) {}

  acquire({ layout, workers }: WorkerIdRequest): Promise<AssignedWorkerId | undefined> {
    const addresses = Object.values(this.interfaces()).flatMap((each) => each ?? []);
    const own = addresses.find(({ address, internal }) => !internal && isIPv4(address) && PRIVATE.check(address));
    if (own === undefined) return Promise.resolve(undefined);
    const number = own.address.split('.').reduce((sum, each) => sum * 256 + Number(each), 0);
    const workerId = foldIntoRange(number % (layout.maxWorkerId + 1), workers);
    return Promise.resolve({ workerId, warnings: [collisionWarning(workerId, `address ${own.address}`, workers)] });
  }
}
