import { createHash } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { TIME_UNITS, type LeaseIdentity } from '@raindrop/core';

/**
 * Names this process as the holder of a worker row, for people and for the original's programs. Uniqueness does not
 * rest on it.
 *
 * The code has the original's form, `{ip}#{servicePort}#{unit}#{mac}`, or is a hash of it. On a table that is shared
 * with the original it ends with `#raindrop`: with `PriorityEqualCodeWorkId` the original takes a row of its own code,
 * even while another process holds it.
 */
export function workerIdentity(options: {
  readonly servicePort: number;
  readonly unitMs: number;
  readonly hashCode: boolean;
  readonly sharedWithOriginal?: boolean;
}): LeaseIdentity {
  const timeUnit = Object.values(TIME_UNITS).find(({ ms }) => ms === options.unitMs)?.number ?? 0;
  const { address, mac } = firstInterface();
  const originals = `${address}#${options.servicePort}#${timeUnit}#${mac}`;
  const code = options.sharedWithOriginal === true ? `${originals}#raindrop` : originals;
  const holder = options.hashCode ? `pid ${process.pid}` : `${hostname()}, pid ${process.pid}`;
  return {
    code: options.hashCode ? createHash('sha256').update(code).digest('hex') : code,
    holder: holder.slice(0, 160),
    timeUnit,
  };
}

function firstInterface(): { address: string; mac: string } {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = all.filter(({ internal }) => !internal);
  const chosen = outside.find(({ family }) => family === 'IPv4') ?? outside[0] ?? all[0];
  return { address: chosen?.address ?? 'localhost', mac: chosen?.mac ?? '' };
}
