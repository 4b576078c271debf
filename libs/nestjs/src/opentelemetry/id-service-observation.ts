import { diag, type BatchObservableResult, type Meter } from '@opentelemetry/api';
import type { IssuedByCode, IssuedByCodeOptions, IssuedCounts } from '@raindrop/core';
import type { IdServiceStatus, SegmentServiceStatus, SnowflakeServiceStatus } from '@raindrop/node';
import { hostTimers } from '@raindrop/node/internal';
import type { IdService } from '../id.service.js';
import { IdServiceInstruments } from './id-service-instruments.js';
import { LeaseEventCounts } from './lease-event-counts.js';

/** The label of all codes that have none of their own, as the semantic conventions write it. */
const OTHER = '_OTHER';

/** All states that a lease can be in, so that each has a series from the beginning. */
const STATES: Record<SnowflakeServiceStatus['state'], true> = {
  starting: true,
  held: true,
  suspect: true,
  lost: true,
  closed: true,
};

/** One service, read whenever a meter's SDK collects. */
export class IdServiceObservation {
  private readonly attributes: { readonly 'raindrop.service': string };
  private readonly issued: IssuedByCode;
  private readonly instruments: IdServiceInstruments;
  private readonly events: LeaseEventCounts;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly ids: IdService,
    private readonly meter: Meter,
    options: IssuedByCodeOptions,
  ) {
    this.attributes = { 'raindrop.service': ids.name };
    this.issued = ids.issuedByCode(options);
    this.instruments = new IdServiceInstruments(meter);
    this.events = new LeaseEventCounts(ids.events);
    ids.events.on('lease-renewed', this.onRenewal);
    meter.addBatchObservableCallback(this.onCollect, this.instruments.observables);
  }

  stop(): void {
    this.meter.removeBatchObservableCallback(this.onCollect, this.instruments.observables);
    this.ids.events.off('lease-renewed', this.onRenewal);
    this.events.stop();
  }

  private readonly onRenewal = ({ tookMs }: { readonly tookMs: number }): void => {
    try {
      this.instruments.renewalDuration.record(tookMs / 1_000, this.attributes);
    } catch (error) {
      diag.error(`Raindrop: a renewal of '${this.ids.name}' could not be recorded`, error);
    }
  };

  private readonly onCollect = async (result: BatchObservableResult): Promise<void> => {
    try {
      // With very many codes one look at all of them would stop the event loop for too long.
      for (let { reads } = this.issued; reads > 1; reads--) {
        this.issued.read();
        await hostTimers.turn();
      }
      this.observe(result, this.ids.status(), this.issued.read());
    } catch (error) {
      diag.error(`Raindrop: the metrics of '${this.ids.name}' could not be read`, error);
    }
  };

  private observe(result: BatchObservableResult, status: IdServiceStatus, issued: IssuedCounts): void {
    const { attributes, instruments } = this;
    for (const [code, count] of seriesOf(issued)) {
      result.observe(instruments.issued, count, code === undefined ? attributes : this.with('raindrop.code', code));
    }
    result.observe(instruments.codes, status.counters.codes, attributes);
    if (status.idMode === 'snowflake') this.observeLease(result, status);
    else this.observeSegments(result, status, issued);
  }

  private observeLease(result: BatchObservableResult, status: SnowflakeServiceStatus): void {
    const { attributes, instruments } = this;
    result.observe(instruments.exhausted, status.counters.exhausted, attributes);
    result.observe(instruments.flips, status.counters.flips, attributes);
    result.observe(instruments.holds, status.counters.holds, attributes);
    if (status.clockOffsetMs !== undefined) {
      result.observe(instruments.clockOffset, status.clockOffsetMs / 1_000, attributes);
    }
    result.observe(instruments.workerId, status.workerId ?? -1, attributes);
    for (const state of Object.keys(STATES)) {
      result.observe(instruments.state, state === status.state ? 1 : 0, this.with('raindrop.lease.state', state));
    }
    if (Number.isFinite(status.leaseLeftMs)) {
      result.observe(instruments.leaseLeft, status.leaseLeftMs / 1_000, attributes);
    }
    result.observe(instruments.renewals, status.renewals, this.with('raindrop.lease.outcome', 'success'));
    result.observe(instruments.renewals, status.failures, this.with('raindrop.lease.outcome', 'failure'));
    for (const [event, count] of this.events.counts) {
      result.observe(instruments.events, count, this.with('raindrop.lease.event', event));
    }
    if (status.daysLeft !== null) result.observe(instruments.daysLeft, status.daysLeft, attributes);
  }

  private observeSegments(result: BatchObservableResult, status: SegmentServiceStatus, issued: IssuedCounts): void {
    const { attributes, instruments } = this;
    const { reservations, failures, starved } = status.counters;
    result.observe(instruments.reservations, reservations, this.with('raindrop.segment.outcome', 'success'));
    result.observe(instruments.reservations, failures, this.with('raindrop.segment.outcome', 'failure'));
    result.observe(instruments.starved, starved, attributes);
    for (const { code, left } of status.codes) {
      if (issued.byCode.has(code)) result.observe(instruments.numbersLeft, left, this.with('raindrop.code', code));
    }
  }

  private with(name: string, value: string): Record<string, string> {
    return { ...this.attributes, [name]: value };
  }
}

/** The counts by label; a code that is really called `_OTHER` is one of the others. */
function seriesOf({ plain, byCode, others }: IssuedCounts): Map<string | undefined, number> {
  const series = new Map<string | undefined, number>(byCode);
  series.set(OTHER, others + (byCode.get(OTHER) ?? 0));
  return series.set(undefined, plain);
}
