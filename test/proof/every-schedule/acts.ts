/**
 * The clock of host A is ahead, that of host B behind, both by nearly as much as `maxClockSkewMs` allows. The operator
 * works at a third one, which is right.
 */
export type Host = 'A' | 'B';

/** L2 has the bits of L1 and an earlier epoch: its IDs are those that L1 issues seconds later. */
export type LayoutName = 'L1' | 'L2';

/** By how much clocks are wrong, ms. */
export interface ClockErrors {
  readonly store: number;
  /** Of every host, the operator's too. */
  readonly hosts: number;
}

/** One step of a schedule. */
export type Act =
  /** A process starts, and waits for what passes by itself. It issues IDs from then on. */
  | { readonly kind: 'start'; readonly host: Host; readonly layout: LayoutName }
  /** A process starts after a failover, records it, and is killed while it waits. */
  | { readonly kind: 'look'; readonly host: Host; readonly layout: LayoutName }
  /** The process gives its worker id back, and ends. */
  | { readonly kind: 'stop'; readonly host: Host }
  /** The process is killed. */
  | { readonly kind: 'kill'; readonly host: Host }
  /** Time passes until all leases, bars and odometers of the table are over. Processes issue meanwhile. */
  | { readonly kind: 'wait' }
  /** All clocks are set. */
  | { readonly kind: 'clocks'; readonly errors: ClockErrors }
  | { readonly kind: 'backup' }
  /** All processes are killed, and the table becomes that of the backup. No process starts before a fence. */
  | { readonly kind: 'restore' }
  /** A replica becomes the primary. It lacks everything since the last start began. */
  | { readonly kind: 'failover' }
  /** All processes are killed, and the primary before the failover serves again. No process starts before a fence. */
  | { readonly kind: 'return' }
  | { readonly kind: 'fence' };

/** Tells one act from another. */
export const nameOf = (act: Act): string => JSON.stringify(act);

const clockInWords = (name: string, errorMs: number): string =>
  errorMs === 0 ? `${name} right` : `${name} ${Math.abs(errorMs)} ms ${errorMs > 0 ? 'ahead' : 'behind'}`;

/** The act as a line of a report. */
export function inWords(act: Act): string {
  switch (act.kind) {
    case 'start':
      return `host ${act.host} starts with ${act.layout}, and issues`;
    case 'look':
      return `host ${act.host} starts with ${act.layout}, records the failover, and is killed while it waits`;
    case 'stop':
      return `host ${act.host} stops, and gives its worker id back`;
    case 'kill':
      return `the process of host ${act.host} is killed`;
    case 'wait':
      return 'time passes until everything in the table is over';
    case 'clocks':
      return `clocks: ${clockInWords('store', act.errors.store)}, ${clockInWords('hosts', act.errors.hosts)}`;
    case 'backup':
      return 'backup';
    case 'restore':
      return 'all processes end, and the backup is restored';
    case 'failover':
      return 'failover: what was written since the last start began is lost';
    case 'return':
      return 'all processes end, and the former primary serves again';
    case 'fence':
      return 'the operator fences';
  }
}

/** Whether the acts of `shorter` are in `longer`, in their order, with or without others between them. */
export function contains(longer: readonly Act[], shorter: readonly Act[]): boolean {
  let found = 0;
  for (const act of longer) {
    if (found < shorter.length && nameOf(act) === nameOf(shorter[found]!)) found++;
  }
  return found === shorter.length;
}
