import { OptionReader } from '../config/option-reader.js';

/** The options of the worker lease. All times are in ms. */
export interface LeaseOptions {
  /**
   * How often the lease is renewed.
   * @range 50-600,000
   * @defaultValue 10,000
   */
  heartbeatIntervalMs?: number;
  /**
   * How long a lease lasts without a renewal.
   * @range more than heartbeat + `opTimeoutMs`, to 86,400,000
   * @defaultValue 60,000
   */
  leaseMs?: number;
  /**
   * How far ahead positions are reserved.
   * @range `leaseMs` to 172,800,000
   * @defaultValue `leaseMs` + 5,000
   */
  horizonMs?: number;
  /**
   * How long after its end others respect a lease; with `commitLossWindowMs` at least, and by default, `leaseMs` +
   * window + 3 × `maxClockSkewMs`.
   * @range 0-86,400,000 (with a window so much above its least)
   * @defaultValue `leaseMs`
   */
  graceMs?: number;
  /**
   * How long a statement may take before its connection is dropped.
   * @range 10-60,000
   * @defaultValue 3,000
   */
  opTimeoutMs?: number;
  /**
   * How far this host's clock may be from the database's.
   * @range 100-3,600,000
   * @defaultValue 30,000
   */
  maxClockSkewMs?: number;
  /**
   * How long an acknowledged commit may still be lost, by a failover say; the same in every process of the table.
   * @range 0-86,400,000
   * @defaultValue 0
   */
  commitLossWindowMs?: number;
  /**
   * How long to wait at the start when every worker id is taken.
   * @range 0-86,400,000
   * @defaultValue 0
   */
  waitForWorkerMs?: number;
  /**
   * Prefer a free row that this host and port had before.
   * @range true, false
   * @defaultValue false
   */
  priorityEqualCodeWorkId?: boolean;
  /**
   * The original's programs have been retired: take their rows over, long after the last heartbeat.
   * @range true, false
   * @defaultValue false
   */
  adoptForeign?: boolean;
  /**
   * The original's programs go on running on this table, with the same bits or another `endBitsValue`. Implies
   * `adoptForeign`; `leaseMs` is at most 90,000 then, and `horizonMs` + `maxClockSkewMs` at most 118,000.
   * @range true, false
   * @defaultValue false
   */
  sharedWithOriginal?: boolean;
}

/** The lease options, checked and complete. */
export type ResolvedLeaseOptions = Readonly<Required<LeaseOptions>>;

/**
 * The original takes a row 120 s after the row's heartbeat, by its own clock, and issues from its own present on; it
 * reads times without fractions, which costs up to 2 s. All that one write of ours grants has to lie before that, ms.
 * Then the original repeats nothing when it takes the row of a process that is cut off, paused or ahead.
 */
const SHARED_GRANT_LIMIT_MS = 118_000;
const LONGEST_SHARED_LEASE_MS = 90_000;

/** Checks lease options and fills in the defaults. @throws ConfigurationError naming every option that is wrong */
export function resolveLeaseOptions(options: LeaseOptions): ResolvedLeaseOptions {
  const reader = new OptionReader(options);
  const resolved = readLeaseOptions(reader);
  reader.finish();
  return resolved;
}

/** Reads the lease options with a reader that others share. */
export function readLeaseOptions(reader: OptionReader): ResolvedLeaseOptions {
  const day = 86_400_000;
  const heartbeatIntervalMs = reader.integer('heartbeatIntervalMs', { min: 50, max: 600_000, default: 10_000 });
  const opTimeoutMs = reader.integer('opTimeoutMs', { min: 10, max: 60_000, default: 3_000 });
  const sharedWithOriginal = reader.boolean('sharedWithOriginal', false);
  const leaseMs = reader.integer('leaseMs', {
    ...{ min: 100, max: sharedWithOriginal ? LONGEST_SHARED_LEASE_MS : day, default: 60_000 },
    ...(sharedWithOriginal && { hint: 'with sharedWithOriginal: the original takes a row 120 s after its heartbeat' }),
  });
  const sharedLimitMs = sharedWithOriginal ? SHARED_GRANT_LIMIT_MS : Number.POSITIVE_INFINITY;
  if (
    leaseMs <= heartbeatIntervalMs + opTimeoutMs &&
    !reader.refused('leaseMs', 'heartbeatIntervalMs', 'opTimeoutMs')
  ) {
    const sum = `heartbeatIntervalMs (${heartbeatIntervalMs}) + opTimeoutMs (${opTimeoutMs})`;
    reader.problem('leaseMs', leaseMs, `must be greater than ${sum}: a lease must outlive a renewal that is slow`);
  }
  const maxClockSkewMs = reader.integer('maxClockSkewMs', {
    ...{ min: 100, max: 3_600_000, default: Math.min(30_000, sharedLimitMs - leaseMs) },
  });
  const horizonMs = reader.integer('horizonMs', {
    min: leaseMs,
    max: 2 * day,
    default: Math.max(leaseMs, Math.min(leaseMs + 5_000, sharedLimitMs - maxClockSkewMs)),
    hint: 'a reservation must outlast the lease',
  });
  if (horizonMs + maxClockSkewMs > sharedLimitMs && !reader.refused('leaseMs', 'horizonMs', 'maxClockSkewMs')) {
    const legal = `with sharedWithOriginal horizonMs (${horizonMs}) + maxClockSkewMs (${maxClockSkewMs}) must be at most ${sharedLimitMs}`;
    const option = reader.value('maxClockSkewMs') === undefined ? 'horizonMs' : 'maxClockSkewMs';
    const given = option === 'horizonMs' ? horizonMs : maxClockSkewMs;
    reader.problem(option, given, `${legal}: the original issues on a row 120 s after its heartbeat`);
  }
  const commitLossWindowMs = reader.integer('commitLossWindowMs', { min: 0, max: day, default: 0 });
  const least = leastGraceMs({ leaseMs, maxClockSkewMs, commitLossWindowMs });
  return Object.freeze({
    heartbeatIntervalMs,
    leaseMs,
    horizonMs,
    graceMs: reader.integer('graceMs', {
      min: least,
      max: least + day,
      default: Math.max(leaseMs, least),
      ...(least > 0 && { hint: 'at least leaseMs + commitLossWindowMs + 3 x maxClockSkewMs' }),
    }),
    opTimeoutMs,
    maxClockSkewMs,
    commitLossWindowMs,
    waitForWorkerMs: reader.integer('waitForWorkerMs', { min: 0, max: day, default: 0 }),
    priorityEqualCodeWorkId: reader.boolean('priorityEqualCodeWorkId', false),
    adoptForeign: reader.boolean('adoptForeign', false) || sharedWithOriginal,
    sharedWithOriginal,
  });
}

/**
 * How long a holder can go on after the end of its lease that the table shows, where commits can be lost, ms.
 *
 * The table may have lost the renewals of a window. The first of them may have been made at the very end of the lease
 * that the table shows, and the last of them just before the loss, a window later. So the holder's own lease ends a
 * lease and a window after the one shown. The holder's clock may be ahead by the permitted skew, and by as much again
 * since it was checked; the next holder's clock may be behind by as much.
 */
function leastGraceMs(
  options: Pick<ResolvedLeaseOptions, 'leaseMs' | 'maxClockSkewMs' | 'commitLossWindowMs'>,
): number {
  const { leaseMs, maxClockSkewMs, commitLossWindowMs } = options;
  return commitLossWindowMs === 0 ? 0 : leaseMs + commitLossWindowMs + 3 * maxClockSkewMs;
}
