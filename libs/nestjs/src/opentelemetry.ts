/**
 * Metrics of the services; needs `@opentelemetry/api`.
 *
 * @module @raindrop/nestjs/opentelemetry
 */

import {
  type BatchObservableResult,
  diag,
  type Histogram,
  type Meter,
  type MetricOptions,
  metrics,
  type Observable,
  ValueType,
} from '@opentelemetry/api';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit, Optional } from '@nestjs/common';
import type { IdServiceEvents, IdServiceStatus, SegmentServiceStatus, SnowflakeServiceStatus } from '@raindrop/node';
import type { IssuedByCode, IssuedByCodeOptions, IssuedCounts } from '@raindrop/core';
import { hostTimers } from '@raindrop/node/internal';
import { IdService } from './id.service.js';

/** The events that are counted; renewals and failures the lease counts itself. */
const COUNTED = ['lease-lost', 'lease-regained', 'lease-suspect', 'clock-back', 'database-regression'] as const;

/** Counts a service's events. They are read, not reported: so every series begins at 0, before the first event. */
class LeaseEventCounts {
  readonly counts = new Map<(typeof COUNTED)[number], number>(COUNTED.map((type) => [type, 0]));
  private readonly listener = ({ type }: IdServiceEvents[(typeof COUNTED)[number]][0]): void => {
    this.counts.set(type, this.counts.get(type)! + 1);
  };

  constructor(private readonly events: IdService['events']) {
    for (const type of COUNTED) events.on(type, this.listener);
  }

  stop(): void {
    for (const type of COUNTED) this.events.off(type, this.listener);
  }
}

/** From a local socket to the longest `opTimeoutMs` that makes sense, s. */
const RENEWAL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The instruments of a meter. Asking a meter for the same ones again yields the same series. */
class IdServiceInstruments {
  readonly issued: Observable;
  readonly exhausted: Observable;
  readonly codes: Observable;
  readonly flips: Observable;
  readonly holds: Observable;
  readonly clockOffset: Observable;
  readonly workerId: Observable;
  readonly state: Observable;
  readonly leaseLeft: Observable;
  readonly renewals: Observable;
  readonly events: Observable;
  readonly daysLeft: Observable;
  readonly numbersLeft: Observable;
  readonly reservations: Observable;
  readonly starved: Observable;
  readonly renewalDuration: Histogram;

  constructor(meter: Meter) {
    const whole = (unit: string, description: string): MetricOptions => ({
      unit,
      description,
      valueType: ValueType.INT,
    });
    this.issued = meter.createObservableCounter(
      'raindrop.ids.issued',
      whole('{id}', 'IDs issued. raindrop.code is absent for those without a code'),
    );
    this.exhausted = meter.createObservableCounter(
      'raindrop.ids.exhausted',
      whole('{attempt}', 'Attempts that found their tick used up and could not borrow'),
    );
    this.codes = meter.createObservableUpDownCounter('raindrop.codes', whole('{code}', 'Codes that are kept'));
    this.flips = meter.createObservableCounter(
      'raindrop.clock.flips',
      whole('{flip}', 'Codes that went over to their other lane because the clock went back'),
    );
    this.holds = meter.createObservableCounter(
      'raindrop.clock.holds',
      whole('{attempt}', 'Attempts that found the clock behind their lane and stayed on it'),
    );
    this.clockOffset = meter.createObservableGauge('raindrop.clock.offset', {
      unit: 's',
      description: "The host's clock minus the database's at the last contact",
    });
    this.workerId = meter.createObservableGauge(
      'raindrop.worker.id',
      whole('', 'The worker id that is held; -1 while none is'),
    );
    this.state = meter.createObservableUpDownCounter(
      'raindrop.lease.state',
      whole('{worker}', '1 for the state that the lease is in, 0 for the others'),
    );
    this.leaseLeft = meter.createObservableGauge('raindrop.lease.remaining', {
      unit: 's',
      description: 'How long IDs are issued without another renewal; 0 while none are',
    });
    this.renewals = meter.createObservableCounter(
      'raindrop.lease.renewals',
      whole('{attempt}', 'Attempts to keep the lease or to replace it, by outcome'),
    );
    this.events = meter.createObservableCounter(
      'raindrop.lease.events',
      whole('{event}', 'What happened to the lease, by event'),
    );
    this.daysLeft = meter.createObservableGauge(
      'raindrop.layout.remaining',
      whole('d', 'Whole days until the timestamps of the layout run out'),
    );
    this.numbersLeft = meter.createObservableGauge(
      'raindrop.segment.remaining',
      whole('{id}', 'Numbers at hand, by code'),
    );
    this.reservations = meter.createObservableCounter(
      'raindrop.segment.reservations',
      whole('{attempt}', 'Attempts to reserve a segment, by outcome'),
    );
    this.starved = meter.createObservableCounter(
      'raindrop.segment.starved',
      whole('{call}', 'Calls that found too few numbers at hand'),
    );
    this.renewalDuration = meter.createHistogram('raindrop.lease.renewal.duration', {
      unit: 's',
      description: 'How long a renewal took that succeeded',
      advice: { explicitBucketBoundaries: RENEWAL_SECONDS },
    });
  }

  /** Those that are read when somebody collects. */
  get observables(): Observable[] {
    return Object.values(this).filter((each: Observable | Histogram): each is Observable => 'addCallback' in each);
  }
}

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
class IdServiceObservation {
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

/** The options say where a service's metrics go, and which codes have a label of their own. */
export interface IdServiceMetricsOptions extends IssuedByCodeOptions {
  /** Default: the meter `@raindrop/nestjs` of the SDK that is registered at the moment. */
  readonly meter?: Meter;
}

/** What is observed already, and by how many. */
const running = new WeakMap<IdService, Map<Meter, { readonly observation: IdServiceObservation; users: number }>>();

/**
 * Registers a service's metrics with OpenTelemetry: its counters are read when the SDK collects, and issuing IDs pays
 * nothing for it. `docs/operations.md` lists the instruments.
 *
 * Without an SDK nothing happens, also not when one is registered later: register it first. A service that is observed
 * already by the same meter is not observed twice; the options of the first call hold.
 * @returns ends it, once everybody who asked for it has ended it; the SDK may go on to export the last values
 * @throws ConfigurationError naming every option that is wrong
 */
export function observeIdService(ids: IdService, options: IdServiceMetricsOptions = {}): () => void {
  const { meter = defaultMeter(), ...codes } = options;
  const byMeter = running.get(ids) ?? new Map<Meter, { observation: IdServiceObservation; users: number }>();
  const entry = byMeter.get(meter) ?? { observation: new IdServiceObservation(ids, meter, codes), users: 0 };
  running.set(ids, byMeter.set(meter, entry));
  entry.users++;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    if (--entry.users > 0) return;
    byMeter.delete(meter);
    entry.observation.stop();
  };
}

/** That of package.json, as a test makes sure: a bundler would leave the file behind. */
const VERSION = '0.1.0';

/** Raindrop's meter of the SDK that is registered now; one that does nothing while none is. */
function defaultMeter(): Meter {
  return metrics.getMeter('@raindrop/nestjs', VERSION);
}

/** Provide {@link IdServiceMetricsOptions} under this token to have {@link RaindropMetrics} use them. */
export const RAINDROP_METRICS_OPTIONS = Symbol('RAINDROP_METRICS_OPTIONS');

/**
 * Gives OpenTelemetry the metrics of ID services: list it as a provider, and the service without a name is observed
 * from the start of its module until the application has shut down. Call {@link observe} for named services.
 *
 * The OpenTelemetry SDK must be registered before the application starts; without one nothing happens.
 */
@Injectable()
export class RaindropMetrics implements OnModuleInit, OnApplicationShutdown {
  private readonly ends: (() => void)[] = [];

  constructor(
    @Optional() private readonly ids?: IdService,
    @Optional() @Inject(RAINDROP_METRICS_OPTIONS) private readonly options: IdServiceMetricsOptions = {},
  ) {}

  /** @throws ConfigurationError naming every option that is wrong */
  onModuleInit(): void {
    if (this.ids !== undefined) this.observe(this.ids);
  }

  /**
   * Observes a service, like {@link observeIdService}, until the application has shut down.
   * @param options default those of {@link RAINDROP_METRICS_OPTIONS}
   * @returns ends it earlier
   * @throws ConfigurationError naming every option that is wrong
   */
  observe(service: IdService, options = this.options): () => void {
    const end = observeIdService(service, options);
    this.ends.push(end);
    return end;
  }

  /** Called by Nest: ends the observation. */
  onApplicationShutdown(): void {
    for (const end of this.ends.splice(0)) end();
  }
}
