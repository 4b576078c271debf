import type { AddressInfo } from 'node:net';
import { ConsoleLogger } from '@nestjs/common';
import type { Layout } from '@raindrop/nestjs';
import type { ServiceConfig } from './service-config.js';

/** Warnings and errors only, and not the one that ends the start-up: `main` says that one in a line of its own. */
export class ServiceLogger extends ConsoleLogger {
  constructor(format: ServiceConfig['logFormat']) {
    super({ logLevels: ['warn', 'error', 'fatal'], json: format === 'json' });
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== 'ExceptionHandler') super.error(message, ...rest);
  }
}

/** The log line of a started service. */
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

/** The warning for a service that every client on its networks can use without a key; otherwise undefined. */
export function openDoorWarning({ host, apiKeysFor }: Pick<ServiceConfig, 'host' | 'apiKeysFor'>): string | undefined {
  if (apiKeysFor === 'all' || (host !== '0.0.0.0' && !/^[0:]+$/.test(host))) return undefined;
  return (
    `HOST=${host}: the service listens on every network of this host, and every client there may issue IDs. ` +
    'With API_KEYS, and API_KEYS_FOR=all, which is its default then, they need a key; a NetworkPolicy or firewall blocks other clients.'
  );
}

/** Entries of one kind are at least so far apart. */
const EVERY_MS = 10_000;

interface Kind {
  saidAtMs: number;
  unsaid: number;
}

/** Lets one log entry of a kind through in ten seconds and counts the others. The kinds must be few: all are kept. */
export class LogRepeats {
  private readonly kinds = new Map<string, Kind>();

  /** @param now a clock that only goes forward, ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** How many of this kind went unsaid since the last one; undefined when this one shall too. */
  admit(kind: string): number | undefined {
    const known = this.kinds.get(kind);
    const atMs = this.now();
    if (known !== undefined && atMs - known.saidAtMs < EVERY_MS) {
      known.unsaid++;
      return undefined;
    }
    this.kinds.set(kind, { saidAtMs: atMs, unsaid: 0 });
    return known?.unsaid ?? 0;
  }
}
