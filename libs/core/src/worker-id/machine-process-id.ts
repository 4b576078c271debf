import { OptionReader } from '../config/option-reader.js';

/** The machine and the process, from which a worker id can be made without a request to any store. */
export interface MachineAndProcess {
  /** Tells this machine from others; `machineText()` makes it. */
  readonly interfaces: string;
  /** 0 or more. */
  readonly processId: number;
  /** The width of the layout's worker field, 0-53. */
  readonly workerBits: number;
}

/**
 * Makes a worker id by KeyWorker's rule: the high half are the low bits of the process id, the low half a hash of the
 * machine; an odd bit goes to the machine. No store is asked, so two processes can have the same id: see
 * {@link collisionOdds}.
 * @throws ConfigurationError naming every value that is wrong
 */
export function machineProcessWorkerId(of: MachineAndProcess): number {
  const reader = new OptionReader(of);
  const interfaces = reader.string('interfaces', { fallback: '', pattern: /^/, legal: 'a string' });
  const processId = reader.integer('processId', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const workerBits = reader.integer('workerBits', { min: 0, max: 53 });
  reader.finish();
  const processIds = 2 ** Math.floor(workerBits / 2);
  const machines = 2 ** Math.ceil(workerBits / 2);
  return (processId % processIds) * machines + (hash32(interfaces) % machines);
}

/** The part of Node's `os.networkInterfaces()` that is used. */
export type NetworkInterfaces = Readonly<
  Record<string, readonly { readonly mac: string; readonly internal: boolean }[] | undefined>
>;

/**
 * Lists the host's name, and name and hardware address of every interface that leads outside, in a fixed order. The
 * host's name is needed because the first container on each host has the same interface and address, but its own name.
 */
export function machineText(hostName: string, interfaces: NetworkInterfaces): string {
  const lines = Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    addresses.filter(({ internal }) => !internal).map(({ mac }) => `${name} ${mac}`),
  );
  return [hostName, ...[...new Set(lines)].sort()].join('\n');
}

/**
 * FNV-1a over the text's UTF-16 units, then murmur3's last mix: without it the low bits would depend on the last units
 * only.
 */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Tells the odds, 0 to 1, that of so many processes at least two hold the same worker id, when each draws one at
 * random: the birthday problem. Half is reached at 1.18 times the root of `ids`: 38 processes of 1,024 ids.
 * @param ids how many worker ids there are, 1 or more
 * @param processes how many run at the same time, 0-1,000,000
 * @throws ConfigurationError when one of them is not such a number
 */
export function collisionOdds(ids: number, processes: number): number {
  const reader = new OptionReader({ ids, processes });
  const all = reader.integer('ids', { min: 1, max: Number.MAX_SAFE_INTEGER });
  const drawn = reader.integer('processes', { min: 0, max: 1_000_000 });
  reader.finish();
  // Added up, not as 1 minus a product: that would lose small odds to rounding.
  let odds = 0;
  for (let taken = 0; taken < drawn && odds < 1; taken++) odds += (1 - odds) * Math.min(1, taken / all);
  return odds;
}
