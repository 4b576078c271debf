import { Injectable, Optional } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { ReservationExhaustedError, SequenceExhaustedError } from '@raindrop/core';
import { IdService } from '../id.service.js';

/** Days of life left below which health is degraded. */
const DEGRADED_BELOW_DAYS = 365;

/** A used-up tick that ends within this time is not worth a report, ms. */
const BRIEF_MS = 1_000;

/** What health says about a service. */
export type RaindropHealthDetails = {
  readonly service: string;
  readonly state: string;
  readonly workerId: number | null;
  readonly lane: number;
  readonly leaseLeftMs: number | null;
  readonly clockOffsetMs: number | null;
  readonly daysLeft: number | null;
  readonly issued: number;
};

/**
 * Health of an ID service for `@nestjs/terminus` 11 and 12.
 *
 * Down while no IDs can be issued; `reason` is the `errorCode` of the refusal: the lease is lost or in doubt, the clock
 * is off, an hour is used up, the layout has expired. Degraded (where terminus knows it; up elsewhere) while renewals
 * fail and in the last year of a layout. It tells whether the process is ready, not whether it is alive: a restart helps
 * against none of this.
 */
@Injectable()
export class RaindropHealthIndicator {
  constructor(
    private readonly health: HealthIndicatorService,
    @Optional() private readonly ids?: IdService,
  ) {}

  /** @param service a named service; default the one without a name. */
  check<const Key extends string>(key: Key, service = this.ids): HealthIndicatorResult<Key> {
    const session = this.health.check(key);
    if (service === undefined) return session.down({ reason: 'RaindropModule is not imported' });
    const status = service.status();
    const details: RaindropHealthDetails = {
      service: status.service,
      state: status.state,
      workerId: status.workerId ?? null,
      lane: status.lane,
      leaseLeftMs: Number.isFinite(status.leaseLeftMs) ? Math.round(status.leaseLeftMs) : null,
      clockOffsetMs: status.clockOffsetMs ?? null,
      daysLeft: status.daysLeft,
      issued: status.counters.issued,
    };
    const refusal = refusalOf(service);
    if (refusal !== undefined) return session.down({ ...details, reason: refusal });
    const concern = concernOf(status.daysLeft, status.lastError?.errorCode);
    if (concern === undefined) return session.up(details);
    // Terminus 11 does not know `degraded`.
    return 'degraded' in session ? session.degraded({ ...details, reason: concern }) : up(session, details, concern);
  }
}

/**
 * Why no ID is to be had, neither now nor in a moment: a tick that is used up for less than a second, or a block that is
 * just being extended, is no reason.
 */
function refusalOf(service: IdService): string | undefined {
  const refusal = service.refusal();
  if (refusal instanceof ReservationExhaustedError) return undefined;
  const isBrief = refusal instanceof SequenceExhaustedError && refusal.availableAt.getTime() - Date.now() <= BRIEF_MS;
  return isBrief ? undefined : refusal?.errorCode;
}

function up<Key extends string>(
  session: ReturnType<HealthIndicatorService['check']>,
  details: RaindropHealthDetails,
  reason: string,
): HealthIndicatorResult<Key> {
  return session.up({ ...details, reason });
}

function concernOf(daysLeft: number | null, lastError: string | undefined): string | undefined {
  if (lastError !== undefined) return `renewals fail: ${lastError}`;
  if (daysLeft !== null && daysLeft < DEGRADED_BELOW_DAYS) return `the layout expires in ${daysLeft} days`;
  return undefined;
}
