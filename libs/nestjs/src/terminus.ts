/**
 * The health indicator; needs `@nestjs/terminus`.
 *
 * @module @raindrop/nestjs/terminus
 */

import { requireSupported } from '@raindrop/node/internal';
import { Injectable, Optional } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import type { OpenService, SegmentServiceStatus, SnowflakeServiceStatus } from '@raindrop/node';
import { wallClock } from '@raindrop/core/internal';
import { ReservationExhaustedError, SequenceExhaustedError, IdsNotReadyError } from '@raindrop/core';
import { IdService } from './id.service.js';

requireSupported('@nestjs/terminus', () => __filename);

/** Days of life left below which health is degraded. */
const DEGRADED_BELOW_DAYS = 365;

/** A used-up tick that ends within this time is not reported, ms. */
const BRIEF_MS = 1_000;

/** The health details of a service; null where a value is unknown. */
export type RaindropHealthDetails = {
  readonly service: string;
  readonly state: string;
  readonly workerId: number | null;
  readonly lane: number;
  /** How long IDs are issued without another renewal; null for a worker id given by hand. */
  readonly leaseLeftMs: number | null;
  /** This host's clock minus that of the database, ms. */
  readonly clockOffsetMs: number | null;
  /** Whole days until the layout expires. */
  readonly daysLeft: number | null;
  /** The share of one code's capacity that was used between the last two renewals, to three decimals. */
  readonly saturation: number | null;
  readonly issued: number;
  /** The `errorCode` of the last attempt to keep or to replace the lease; null when it succeeded. */
  readonly lastError: string | null;
};

/** The health details of a service of numbers from segments. */
type SegmentHealthDetails = {
  readonly service: string;
  readonly state: string;
  /** How many codes are in use. */
  readonly codes: number;
  /** The numbers left of the code that has the fewest; null when no code is in use. */
  readonly numbersLeft: number | null;
  readonly issued: number;
  /** The `errorCode` of a code whose last reservation failed; null when every code's last one succeeded. */
  readonly lastError: string | null;
};

/**
 * Tells the health of an ID service to `@nestjs/terminus` 11 and 12.
 *
 * A service is down while it can issue no IDs; `reason` is the `errorCode` of the refusal. The lease may be lost or in
 * doubt (`lastError` says why it does not come back), the clock wrong, an hour's sequence used up, or the layout
 * expired. It is degraded while renewals fail, and in the last year of a layout; terminus 11 knows no `degraded` and
 * shows it as up. A service of numbers from segments is down when a code has none left and its reservations fail,
 * degraded while reservations fail. Use it as a readiness probe, not as a liveness probe, because a restart cures none of
 * this: docs/health.md.
 */
@Injectable()
export class RaindropHealthIndicator {
  constructor(
    private readonly health: HealthIndicatorService,
    @Optional() private readonly ids?: IdService,
  ) {}

  /**
   * Tells terminus the health of a service; issues no ID.
   * @param service a named one; by default the service without a name
   */
  isHealthy<const Key extends string>(
    key: Key,
    service: OpenService | undefined = this.ids,
  ): HealthIndicatorResult<Key> {
    const session = this.health.check(key) as unknown as Session<Key>;
    if (service === undefined) return session.down({ reason: 'RaindropModule is not imported' });
    const { details, refusal, concern } = judge(service);
    if (refusal !== undefined) return session.down({ ...details, reason: refusal });
    if (concern === undefined) return session.up(details);
    const withReason = { ...details, reason: concern };
    return session.degraded?.(withReason) ?? session.up(withReason);
  }
}

/** The part of a session of terminus that is used; terminus 11 knows no `degraded`. */
interface Session<Key extends string> {
  up(details: object): HealthIndicatorResult<Key>;
  down(details: object): HealthIndicatorResult<Key>;
  degraded?(details: object): HealthIndicatorResult<Key>;
}

/** The details of a service, why it is down, and why it is degraded. */
interface Judgement {
  readonly details: RaindropHealthDetails | SegmentHealthDetails;
  readonly refusal: string | undefined;
  readonly concern: string | undefined;
}

function judge(service: OpenService): Judgement {
  const status = service.status();
  if (status.idMode === 'numberSection') return judgeSegments(status);
  const details = detailsOf(status);
  return { details, refusal: refusalOf(service), concern: concernOf(details) };
}

function detailsOf(status: SnowflakeServiceStatus): RaindropHealthDetails {
  const { service, state, lane, leaseLeftMs, daysLeft, saturation } = status;
  return {
    service,
    state,
    workerId: status.workerId ?? null,
    lane,
    leaseLeftMs: Number.isFinite(leaseLeftMs) ? Math.round(leaseLeftMs) : null,
    clockOffsetMs: status.clockOffsetMs ?? null,
    daysLeft,
    saturation: saturation === null ? null : Number(saturation.toFixed(3)),
    issued: status.counters.issued,
    lastError: status.lastError?.errorCode ?? null,
  };
}

/**
 * Why no ID can be issued. Undefined also when one can be issued in a moment: when a used-up tick ends within a second,
 * or a reservation is being extended.
 */
function refusalOf(service: OpenService): string | undefined {
  const refusal = service.refusal();
  if (refusal instanceof ReservationExhaustedError) return undefined;
  // The next batch has been requested.
  if (refusal instanceof IdsNotReadyError && refusal.cause === undefined) return undefined;
  const isBrief =
    refusal instanceof SequenceExhaustedError && refusal.availableAt.getTime() - wallClock.now() <= BRIEF_MS;
  return isBrief ? undefined : refusal?.errorCode;
}

function concernOf({ daysLeft, lastError }: RaindropHealthDetails): string | undefined {
  if (lastError !== null) return `renewals fail: ${lastError}`;
  if (daysLeft !== null && daysLeft < DEGRADED_BELOW_DAYS) return `the layout expires in ${daysLeft} days`;
  return undefined;
}

/**
 * Judges a service of numbers from segments. It is down when a code that the options name has no numbers left and its
 * reservation fails. It is degraded when another code is in that state, or when numbers are left and reservations fail.
 */
function judgeSegments({ service, state, codes, startCodes, counters, lastError }: SegmentServiceStatus): {
  details: SegmentHealthDetails;
  refusal: string | undefined;
  concern: string | undefined;
} {
  const out = codes.find((each) => startCodes.includes(each.code) && each.left === 0 && each.lastError !== undefined);
  const numbersLeft = codes.length === 0 ? null : Math.min(...codes.map(({ left }) => left));
  const details = {
    service,
    state,
    codes: codes.length,
    numbersLeft,
    issued: counters.issued,
    lastError: lastError?.errorCode ?? null,
  };
  return {
    details,
    refusal: state === 'closed' ? 'CLOSED' : out?.lastError?.errorCode,
    concern: lastError && `reservations fail: ${lastError.errorCode}`,
  };
}
