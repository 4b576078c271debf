/** What any issuing process is told when it starts, in its environment as JSON. */
export interface ProcessOrders {
  /** Where the IDs are written: one file for each code, named `{prefix}.{code}`. */
  readonly prefix: string;
  readonly seed: number;
}

/** What a process is told that issues under a lease. */
export interface IssuingOrders extends ProcessOrders {
  readonly control: boolean;
  /** TypeORM options of the database, through the process's own proxy. */
  readonly database: Readonly<Record<string, unknown>>;
  readonly layout: LayoutOrders;
  readonly lease: LeaseOrders;
  /** IDs per second. */
  readonly rate: number;
  /** Leaves out what notices another server and old sessions: the control of failovers. */
  readonly withoutTerms?: boolean;
}

/** The layout of all processes. */
export interface LayoutOrders {
  readonly timeUnit: 'millisecond' | 'second' | 'hour';
  readonly startTimeStamp: string;
  readonly timeStampLength: number;
  readonly workIdLength: number;
  readonly serviceMinWorkId: number;
  readonly serviceMaxWorkId: number;
}

/** The lease of all processes: short, so that much happens in a minute. */
export interface LeaseOrders {
  readonly heartbeatIntervalMs: number;
  readonly leaseMs: number;
  readonly horizonMs: number;
  readonly graceMs: number;
  readonly opTimeoutMs: number;
  readonly maxClockSkewMs: number;
}

export const ORDERS_VARIABLE = 'RAINDROP_CHAOS_ORDERS';

/** The codes that IDs are issued for; `plain` stands for none. */
export const CODES = ['plain', 'order', 'invoice'] as const;
export type Code = (typeof CODES)[number];

/** How a process ends that could not start, and may be started again. */
export const START_REFUSED_EXIT = 75;

/** What an issuing process says. */
export type IssuingMessage =
  | {
      readonly type: 'report';
      readonly issued: number;
      /** By error code, since the start. */
      readonly refusals: Readonly<Record<string, number>>;
      readonly tenures: number;
      /** How often the worker table could not be reached. */
      readonly storeTroubles: number;
      readonly backfills?: number;
      /** For how long nothing was to be had, from the first refusal on, at most. */
      readonly longestRefusalMs: number;
    }
  | { readonly type: 'startRefused'; readonly errorCode: string }
  | { readonly type: 'unexpected'; readonly what: string }
  /** The answer to {@link ASK_CLOCK}: the wall clock against the machine's monotonic one. */
  | { readonly type: 'clock'; readonly offsetMs: number };

export const ASK_CLOCK = 'clock?';
