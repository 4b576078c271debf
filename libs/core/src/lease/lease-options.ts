import { DAY_MS } from '../time/timeline.js';
import { OptionReader } from '../config/option-reader.js';
import {
  boolean,
  integer,
  type Numbers,
  type OptionsOf,
  type ReadOptions,
  readOptions,
} from '../config/option-rules.js';

/**
 * The original takes a row 120 s after the row's heartbeat, by its own clock, and issues from its own present on; it
 * reads times without fractions, which costs up to 2 s. All that one write of ours grants has to lie before that, ms.
 * Then the original repeats nothing when it takes the row of a process that is cut off, paused or ahead.
 */
const SHARED_GRANT_LIMIT_MS = 118_000;
const LONGEST_SHARED_LEASE_MS = 90_000;

/** The options that others depend on. */
interface Others extends Numbers<'leaseMs' | 'maxClockSkewMs' | 'commitLossWindowMs'> {
  readonly sharedWithOriginal: boolean;
}

/** The options of the worker lease. All times are in ms. */
export const leaseOptions = {
  /** How often the lease is renewed. @range 50-600,000 @defaultValue 10,000 */
  heartbeatIntervalMs: integer({ min: 50, max: 600_000, default: 10_000, readBy: 'leased' }),
  /**
   * How long a lease lasts without a renewal.
   * @range more than heartbeat + `opTimeoutMs`, to 86,400,000 @defaultValue 60,000
   */
  leaseMs: integer({
    min: 100,
    max: ({ sharedWithOriginal }: Others) => (sharedWithOriginal ? LONGEST_SHARED_LEASE_MS : DAY_MS),
    default: 60_000,
    hint: ({ sharedWithOriginal }: Others) =>
      sharedWithOriginal
        ? 'with sharedWithOriginal: the original takes over a row 120 s after its heartbeat'
        : undefined,
    readBy: 'leased',
  }),
  /** How far ahead positions are reserved. @range `leaseMs` to 172,800,000 @defaultValue `leaseMs` + 5,000 */
  horizonMs: integer({
    min: ({ leaseMs }: Others) => leaseMs,
    max: 2 * DAY_MS,
    default: ({ leaseMs, maxClockSkewMs, sharedWithOriginal }: Others) =>
      Math.max(leaseMs, Math.min(leaseMs + 5_000, grantLimitMs(sharedWithOriginal) - maxClockSkewMs)),
    hint: 'a reservation must outlast the lease',
    readBy: 'leased',
  }),
  /**
   * How long other processes leave a row alone after its lease has ended. Example: 60,000 keeps the row of a crashed process
   * for two minutes after its last renewal. With `commitLossWindowMs` the least, and the default, is `leaseMs` +
   * `commitLossWindowMs` + 3 × `maxClockSkewMs`.
   * @range 0-86,400,000; with `commitLossWindowMs` from the least, up to 86,400,000 more @defaultValue `leaseMs`
   */
  graceMs: integer({
    min: leastGraceMs,
    max: (others: Others) => leastGraceMs(others) + DAY_MS,
    default: (others: Others) => Math.max(others.leaseMs, leastGraceMs(others)),
    hint: (others: Others) =>
      leastGraceMs(others) > 0 ? 'at least leaseMs + commitLossWindowMs + 3 x maxClockSkewMs' : undefined,
    readBy: 'leased',
  }),
  /** How long a statement may take before its connection is dropped. @range 10-60,000 @defaultValue 3,000 */
  opTimeoutMs: integer({ min: 10, max: 60_000, default: 3_000, readBy: 'ownWorkerOrNumbers' }),
  /** How far this host's clock may be from the database's. @range 100-3,600,000 @defaultValue 30,000 */
  maxClockSkewMs: integer({
    min: 100,
    max: 3_600_000,
    default: ({ leaseMs, sharedWithOriginal }: Others) => Math.min(30_000, grantLimitMs(sharedWithOriginal) - leaseMs),
    readBy: 'leased',
  }),
  /**
   * How long after its acknowledgement a commit may still be lost, for example by a failover. All processes of a table
   * need the same value.
   * @range 0-86,400,000 @defaultValue 0
   */
  commitLossWindowMs: integer({ min: 0, max: DAY_MS, default: 0, readBy: 'leased' }),
  /** How long a start waits when no worker id is free. @range 0-86,400,000 @defaultValue 0 */
  waitForWorkerMs: integer({ min: 0, max: DAY_MS, default: 0, readBy: 'rows' }),
  /** Prefer a free row that this host and port had before. @range true, false @defaultValue false */
  priorityEqualCodeWorkId: boolean({ default: false, readBy: 'leased' }),
  /**
   * Take over rows of the Go original, long after their last heartbeat. Only when none of its programs runs any more.
   * @range true, false @defaultValue false
   */
  adoptForeign: boolean({ default: false, readBy: 'leased' }),
  /**
   * Programs of the Go original continue to run on this table, with the same bits or another `endBitsValue`. Implies
   * `adoptForeign`. Limits: 90,000 for `leaseMs`, 118,000 for `horizonMs` + `maxClockSkewMs`.
   * @range true, false @defaultValue false
   */
  sharedWithOriginal: boolean({ default: false, readBy: 'original' }),
};

/** The options of the worker lease. All times are in ms. */
export interface LeaseOptions extends OptionsOf<typeof leaseOptions> {}

/** The lease options, checked and complete. */
export interface ResolvedLeaseOptions extends ReadOptions<typeof leaseOptions> {}

/** Checks lease options and fills in the defaults. @throws ConfigurationError naming every option that is wrong */
export function resolveLeaseOptions(options: LeaseOptions): ResolvedLeaseOptions {
  const reader = new OptionReader(options);
  const resolved = readLeaseOptions(reader);
  reader.finish();
  return resolved;
}

/** Reads the lease options with a reader that others share. */
export function readLeaseOptions(reader: OptionReader): ResolvedLeaseOptions {
  const lease = readOptions(reader, leaseOptions);
  const { heartbeatIntervalMs, opTimeoutMs, leaseMs, horizonMs, maxClockSkewMs } = lease;
  if (
    leaseMs <= heartbeatIntervalMs + opTimeoutMs &&
    !reader.refused('leaseMs', 'heartbeatIntervalMs', 'opTimeoutMs')
  ) {
    const sum = `heartbeatIntervalMs (${heartbeatIntervalMs}) + opTimeoutMs (${opTimeoutMs})`;
    reader.problem('leaseMs', leaseMs, `must be greater than ${sum}: a lease must outlast a slow renewal`);
  }
  const limitMs = grantLimitMs(lease.sharedWithOriginal);
  if (horizonMs + maxClockSkewMs > limitMs && !reader.refused('leaseMs', 'horizonMs', 'maxClockSkewMs')) {
    const legal = `with sharedWithOriginal horizonMs (${horizonMs}) + maxClockSkewMs (${maxClockSkewMs}) must be at most ${limitMs}`;
    const option = reader.value('maxClockSkewMs') === undefined ? 'horizonMs' : 'maxClockSkewMs';
    reader.problem(option, lease[option], `${legal}: the original takes over a row 120 s after its heartbeat`);
  }
  return Object.freeze({ ...lease, adoptForeign: lease.adoptForeign || lease.sharedWithOriginal });
}

/** How far ahead one write may grant, plus the skew of the clocks, ms. */
function grantLimitMs(sharedWithOriginal: boolean): number {
  return sharedWithOriginal ? SHARED_GRANT_LIMIT_MS : Number.POSITIVE_INFINITY;
}

/**
 * How long a holder can go on after the end of its lease that the table shows, where commits can be lost, ms.
 *
 * The table may have lost the renewals of a window. The first of them may have been made at the very end of the lease
 * that the table shows, and the last of them just before the loss, a window later. So the holder's own lease ends a
 * lease and a window after the one shown. The holder's clock may be ahead by the permitted skew, and by as much again
 * since it was checked; the next holder's clock may be behind by as much.
 */
function leastGraceMs({ leaseMs, maxClockSkewMs, commitLossWindowMs }: Others): number {
  return commitLossWindowMs === 0 ? 0 : leaseMs + commitLossWindowMs + 3 * maxClockSkewMs;
}
