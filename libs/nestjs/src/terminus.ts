/**
 * The health indicator; needs `@nestjs/terminus`.
 *
 * @module @raindrop/nestjs/terminus
 */

import { Injectable, Optional } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import type { SegmentServiceStatus, SnowflakeServiceStatus } from '@raindrop/node';
import { IdsNotReadyError, wallClock } from '@raindrop/core/internal';
import { ReservationExhaustedError, SequenceExhaustedError } from '@raindrop/core';
import { IdService } from './id.service.js';

/** What health says about a service of numbers from segments. */
type SegmentHealthDetails = {
  readonly service: string;
  readonly state: string;
  /** How many codes are in use. */
  readonly codes: number;
  /** Numbers at hand of the code that has the fewest; null when none is in use. */
  readonly numbersLeft: number | null;
  readonly issued: number;
  /** The `errorCode` of the last reservation of some code; null when all succeeded. */
  readonly lastError: string | null;
};

/**
 * Down when a code that the options name is out of numbers and cannot get any; degraded while others are, or while numbers
 * are left and reservations fail.
 */
function judgeSegments({ service, state, codes, startCodes, counters, lastError }: SegmentServiceStatus): {
  details: SegmentHealthDetails;
  refusal: string | undefined;
  concern: string | undefined;
} {
  const out = codes.find((each) => startCodes.includes(each.code) && each.left === 0 && each.lastError !== undefined);
  const numbersLeft = codes.length === 0 ? null : Math.min(...codes.map(({ left }) => left));
  const details = {
    ...{ service, state, codes: codes.length, numbersLeft, issued: counters.issued },
    lastError: lastError?.errorCode ?? null,
  };
  return {
    details,
    refusal: state === 'closed' ? 'CLOSED' : out?.lastError?.errorCode,
    concern: lastError && `reservations fail: ${lastError.errorCode}`,
  };
}

/** Days of life left below which health is degraded. */
const DEGRADED_BELOW_DAYS = 365;

/** A used-up tick that ends within this time is not worth a report, ms. */
const BRIEF_MS = 1_000;

/** The details are what health says about a service; null where there is nothing to say. */
export type RaindropHealthDetails = {
  readonly service: string;
  readonly state: string;
  readonly workerId: number | null;
  readonly lane: number;
  /** How long IDs are issued without another renewal; null for a worker id given by hand. */
  readonly leaseLeftMs: number | null;
  /** This host's clock minus the database's. */
  readonly clockOffsetMs: number | null;
  /** Until the layout expires. */
  readonly daysLeft: number | null;
  /** Share of one code's capacity between the last two renewals, to three decimals. */
  readonly saturation: number | null;
  readonly issued: number;
  /** The `errorCode` of the last attempt to keep or to replace the lease; null when it succeeded. */
  readonly lastError: string | null;
};

/**
 * Tells the health of an ID service to `@nestjs/terminus` 11 and 12.
 *
 * Down while no IDs can be issued; `reason` is the `errorCode` of the refusal: the lease is lost or in doubt (`lastError`
 * says what keeps it from coming back), the clock is off, an hour is used up, the layout has expired. Degraded (where
 * terminus knows it; up elsewhere) while renewals fail and in the last year of a layout. For numbers from segments: down
 * when a code has none left and no more come, degraded while reservations fail. It tells whether the process is ready,
 * not whether it is alive: a restart helps against none of this.
 */
@Injectable()
export class RaindropHealthIndicator {
  constructor(
    private readonly health: HealthIndicatorService,
    @Optional() private readonly ids?: IdService,
  ) {}

  /**
   * Tells terminus how a service is; issues nothing.
   * @param service a named one; by default the one without a name
   */
  isHealthy<const Key extends string>(key: Key, service = this.ids): HealthIndicatorResult<Key> {
    const session = this.health.check(key) as unknown as Session<Key>;
    if (service === undefined) return session.down({ reason: 'RaindropModule is not imported' });
    const { details, refusal, concern } = judge(service);
    if (refusal !== undefined) return session.down({ ...details, reason: refusal });
    if (concern === undefined) return session.up(details);
    const withReason = { ...details, reason: concern };
    return session.degraded?.(withReason) ?? session.up(withReason);
  }
}

/** What is used of a session; terminus 11 knows no `degraded`. */
interface Session<Key extends string> {
  up(details: object): HealthIndicatorResult<Key>;
  down(details: object): HealthIndicatorResult<Key>;
  degraded?(details: object): HealthIndicatorResult<Key>;
}

/** What is told of a service, why it is down, and what is to be looked after. */
interface Judgement {
  readonly details: RaindropHealthDetails | SegmentHealthDetails;
  readonly refusal: string | undefined;
  readonly concern: string | undefined;
}

function judge(service: IdService): Judgement {
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
 * Why no ID is to be had, neither now nor in a moment: a tick that is used up for less than a second, or a block that is
 * just being extended, is no reason.
 */
function refusalOf(service: IdService): string | undefined {
  const refusal = service.refusal();
  if (refusal instanceof ReservationExhaustedError) return undefined;
  // A batch is on its way.
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
