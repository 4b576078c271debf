import type { AddressInfo } from 'node:net';
import type { Layout } from '@raindrop/nestjs';
import type { ServiceConfig } from './service-config.js';

/** What a started service says about itself. */
export function startLine(
  {
    workerId,
    layout,
  }: { readonly workerId: number | undefined; readonly layout: Pick<Layout, 'fingerprint' | 'expiresAt'> },
  { workers }: Pick<ServiceConfig, 'workers'>,
  address: Pick<AddressInfo, 'address' | 'port'>,
): string {
  const until = layout.expiresAt?.toISOString().slice(0, 10) ?? 'beyond the calendar';
  return (
    `Raindrop: worker ${workerId} of ${workers.min}..${workers.max}, layout ${layout.fingerprint}; ` +
    `IDs until ${until}; click ${urlOf(address)}/`
  );
}

/** Where a browser on this host finds it: not every address that can be listened on can be visited. */
function urlOf({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
