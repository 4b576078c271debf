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
  metrics,
  type Observable,
  ValueType,
} from '@opentelemetry/api';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit, Optional } from '@nestjs/common';
import type {
  IdServiceEvents,
  IdServiceStatus,
  OpenService,
  SegmentServiceStatus,
  SnowflakeServiceStatus,
} from '@raindrop/node';
import type { IssuedByCode, IssuedByCodeOptions, IssuedCounts } from '@raindrop/core';
import { hostTimers, requireSupported } from '@raindrop/node/internal';
import { IdService } from './id.service.js';

requireSupported('@opentelemetry/api', () => __filename);

/** The version in package.json, as a test checks. The file itself is not read: a bundler would leave it behind. */
const VERSION = '0.1.0';

/** The events that are counted; the lease itself counts renewals and failures. */
const COUNTED = ['lease-lost', 'lease-regained', 'lease-suspect', 'clock-back', 'database-regression'] as const;

/** All states that a lease can be in: each has a series from the beginning. */
const STATES: Record<SnowflakeServiceStatus['state'], true> = {
  starting: true,
  held: true,
  suspect: true,
  lost: true,
  closed: true,
};

/** The label of all codes that have none of their own, as the semantic conventions write it. */
const OTHER_CODES = '_OTHER';

/** Upper bounds of the renewal histogram, s: from a local socket to the longest `opTimeoutMs` that makes sense. */
const RENEWAL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The status of a service at one collection. */
interface Reading {
  readonly status: IdServiceStatus;
  readonly issued: IssuedCounts;
  readonly events: ReadonlyMap<string, number>;
}

/** The value of each series, by the value of the label that tells them apart; undefined: the series without a label. */
type SeriesValues = Iterable<readonly [label: string | undefined, value: number]>;

/** An instrument that is read when the SDK collects. */
interface ObservedInstrument {
  readonly kind: 'Counter' | 'UpDownCounter' | 'Gauge';
  readonly name: string;
  /** `s` has fractions; all other units are counted in whole numbers. */
  readonly unit: string;
  readonly description: string;
  /** The label that tells the instrument's series apart; left out where it has one series. */
  readonly label?: string;
  /** @returns undefined where this service has no such value now */
  readonly read: (reading: Reading) => number | undefined | SeriesValues;
}

const INSTRUMENTS: readonly ObservedInstrument[] = [
  {
    kind: 'Counter',
    name: 'raindrop.ids.issued',
    unit: '{id}',
    label: 'raindrop.code',
    description: 'IDs issued. raindrop.code is absent for those without a code',
    read: ({ issued }) => countsByLabel(issued),
  },
  {
    kind: 'UpDownCounter',
    name: 'raindrop.codes',
    unit: '{code}',
    description: 'Codes that are kept',
    read: ({ status }) => status.counters.codes,
  },
  {
    kind: 'Counter',
    name: 'raindrop.ids.exhausted',
    unit: '{attempt}',
    description: 'Attempts that found their tick used up and could not borrow',
    read: ofLease(({ counters }) => counters.exhausted),
  },
  {
    kind: 'Counter',
    name: 'raindrop.clock.flips',
    unit: '{flip}',
    description: 'Codes that changed to their other lane because the clock moved back',
    read: ofLease(({ counters }) => counters.flips),
  },
  {
    kind: 'Counter',
    name: 'raindrop.clock.holds',
    unit: '{attempt}',
    description: 'Attempts that found the clock behind their lane and stayed on it',
    read: ofLease(({ counters }) => counters.holds),
  },
  {
    kind: 'Gauge',
    name: 'raindrop.clock.offset',
    unit: 's',
    description: "The host's clock minus the database's at the last contact",
    read: ofLease(({ clockOffsetMs }) => (clockOffsetMs === undefined ? undefined : clockOffsetMs / 1_000)),
  },
  {
    kind: 'Gauge',
    name: 'raindrop.worker.id',
    unit: '',
    description: 'The worker id held; -1 for none',
    read: ofLease(({ workerId }) => workerId ?? -1),
  },
  {
    kind: 'UpDownCounter',
    name: 'raindrop.lease.state',
    unit: '{worker}',
    label: 'raindrop.lease.state',
    description: '1 for the state that the lease is in, 0 for the others',
    read: ofLease(({ state }) => Object.keys(STATES).map((each) => [each, each === state ? 1 : 0] as const)),
  },
  {
    kind: 'Gauge',
    name: 'raindrop.lease.remaining',
    unit: 's',
    description: 'How long IDs can be issued without another renewal; 0 for none',
    read: ofLease(({ leaseLeftMs }) => (Number.isFinite(leaseLeftMs) ? leaseLeftMs / 1_000 : undefined)),
  },
  {
    kind: 'Counter',
    name: 'raindrop.lease.renewals',
    unit: '{attempt}',
    label: 'raindrop.lease.outcome',
    description: 'Attempts to keep the lease or to replace it, by outcome',
    read: ofLease(({ renewals, failures }) => byOutcome(renewals, failures)),
  },
  {
    kind: 'Counter',
    name: 'raindrop.lease.events',
    unit: '{event}',
    label: 'raindrop.lease.event',
    description: 'What happened to the lease, by event',
    read: ofLease((_, { events }) => events),
  },
  {
    kind: 'Gauge',
    name: 'raindrop.layout.remaining',
    unit: 'd',
    description: 'Whole days until the timestamps of the layout run out',
    read: ofLease(({ daysLeft }) => daysLeft ?? undefined),
  },
  {
    kind: 'Gauge',
    name: 'raindrop.segment.remaining',
    unit: '{id}',
    label: 'raindrop.code',
    description: 'Numbers at hand, by code',
    read: ofSegments(({ codes }, { issued }) =>
      codes.filter(({ code }) => issued.byCode.has(code)).map(({ code, left }) => [code, left] as const),
    ),
  },
  {
    kind: 'Counter',
    name: 'raindrop.segment.reservations',
    unit: '{attempt}',
    label: 'raindrop.segment.outcome',
    description: 'Attempts to reserve a segment, by outcome',
    read: ofSegments(({ counters }) => byOutcome(counters.reservations, counters.failures)),
  },
  {
    kind: 'Counter',
    name: 'raindrop.segment.starved',
    unit: '{call}',
    description: 'Calls that found too few numbers at hand',
    read: ofSegments(({ counters }) => counters.starved),
  },
];

/** Reads a value that only services of snowflakes have. */
function ofLease(
  read: (status: SnowflakeServiceStatus, reading: Reading) => number | undefined | SeriesValues,
): ObservedInstrument['read'] {
  return (reading) => (reading.status.idMode === 'snowflake' ? read(reading.status, reading) : undefined);
}

/** Reads a value that only services of numbers from segments have. */
function ofSegments(
  read: (status: SegmentServiceStatus, reading: Reading) => number | undefined | SeriesValues,
): ObservedInstrument['read'] {
  return (reading) => (reading.status.idMode === 'numberSection' ? read(reading.status, reading) : undefined);
}

function byOutcome(success: number, failure: number): SeriesValues {
  return Object.entries({ success, failure });
}

/** The counts by label; a code that is really called `_OTHER` is one of the others. */
function countsByLabel({ plain, byCode, others }: IssuedCounts): SeriesValues {
  const counts = new Map<string | undefined, number>(byCode);
  counts.set(OTHER_CODES, others + (byCode.get(OTHER_CODES) ?? 0));
  return counts.set(undefined, plain);
}

/** One service, read whenever a meter's SDK collects. */
class IdServiceObservation {
  private readonly attributes: { readonly 'raindrop.service': string };
  private readonly issued: IssuedByCode;
  /** They are read, not reported: every series begins at 0, before the first event. */
  private readonly events = new Map<(typeof COUNTED)[number], number>(COUNTED.map((type) => [type, 0]));
  /** A meter that is asked for the same instrument again answers with the same series. */
  private readonly observables: ReadonlyMap<Observable, ObservedInstrument>;
  private readonly renewalDuration: Histogram;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly ids: OpenService,
    private readonly meter: Meter,
    options: IssuedByCodeOptions,
  ) {
    this.attributes = { 'raindrop.service': ids.name };
    this.issued = ids.issuedByCode(options);
    this.observables = new Map(INSTRUMENTS.map((each) => [createObservable(meter, each), each]));
    this.renewalDuration = meter.createHistogram('raindrop.lease.renewal.duration', {
      unit: 's',
      description: 'Duration of successful renewals',
      advice: { explicitBucketBoundaries: RENEWAL_SECONDS },
    });
    for (const type of COUNTED) ids.events.on(type, this.onCounted);
    ids.events.on('lease-renewed', this.onRenewal);
    meter.addBatchObservableCallback(this.onCollect, [...this.observables.keys()]);
  }

  stop(): void {
    this.meter.removeBatchObservableCallback(this.onCollect, [...this.observables.keys()]);
    this.ids.events.off('lease-renewed', this.onRenewal);
    for (const type of COUNTED) this.ids.events.off(type, this.onCounted);
  }

  private readonly onCounted = ({ type }: IdServiceEvents[(typeof COUNTED)[number]][0]): void => {
    this.events.set(type, this.events.get(type)! + 1);
  };

  private readonly onRenewal = ({ tookMs }: { readonly tookMs: number }): void => {
    try {
      this.renewalDuration.record(tookMs / 1_000, this.attributes);
    } catch (error) {
      diag.error(`Raindrop: a renewal of '${this.ids.name}' could not be recorded`, error);
    }
  };

  private readonly onCollect = async (result: BatchObservableResult): Promise<void> => {
    try {
      // One read of very many codes would stop the event loop for too long: `reads` says in how many to read them.
      for (let { reads } = this.issued; reads > 1; reads--) {
        this.issued.read();
        await hostTimers.turn();
      }
      this.observe(result, { status: this.ids.status(), issued: this.issued.read(), events: this.events });
    } catch (error) {
      diag.error(`Raindrop: the metrics of '${this.ids.name}' could not be read`, error);
    }
  };

  private observe(result: BatchObservableResult, reading: Reading): void {
    for (const [observable, { label = '', read }] of this.observables) {
      const values = read(reading) ?? [];
      for (const [of, value] of typeof values === 'number' ? [[undefined, values] as const] : values) {
        result.observe(observable, value, of === undefined ? this.attributes : { ...this.attributes, [label]: of });
      }
    }
  }
}

function createObservable(meter: Meter, { kind, name, unit, description }: ObservedInstrument): Observable {
  const valueType = unit === 's' ? ValueType.DOUBLE : ValueType.INT;
  return meter[`createObservable${kind}`](name, { unit, description, valueType });
}

/** Where a service's metrics go, and which codes have a label of their own. */
export interface IdServiceMetricsOptions extends IssuedByCodeOptions {
  /** Default: the meter `@raindrop/nestjs` of the SDK that is registered at the call. */
  readonly meter?: Meter;
}

/** The observations under way, and how many callers asked for each. */
const running = new WeakMap<OpenService, Map<Meter, { readonly observation: IdServiceObservation; users: number }>>();

/**
 * Registers a service's metrics with OpenTelemetry: its counters are read when the SDK collects, and issuing IDs pays
 * nothing for it. `docs/metrics.md` lists the instruments.
 *
 * Register the SDK first: without one nothing happens, also not when one is registered later. A service that the same
 * meter observes already is not observed twice, and the options of the first call hold.
 * @returns a function that ends the observation. It goes on until every caller has called its function. The SDK may go
 * on exporting the last values
 * @throws ConfigurationError naming every option that is wrong
 */
export function observeIdService(ids: OpenService, options: IdServiceMetricsOptions = {}): () => void {
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

/** Raindrop's meter of the SDK that is registered now; a meter that does nothing while none is. */
function defaultMeter(): Meter {
  return metrics.getMeter('@raindrop/nestjs', VERSION);
}

/** The token of {@link IdServiceMetricsOptions} for {@link RaindropMetrics}. */
export const RAINDROP_METRICS_OPTIONS = Symbol('RAINDROP_METRICS_OPTIONS');

/**
 * Gives OpenTelemetry the metrics of ID services. List it as a provider: the service without a name is observed from
 * the start of its module until the application has shut down. Call {@link observe} for named services.
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
   * @param options by default those of {@link RAINDROP_METRICS_OPTIONS}
   * @returns a function that ends it earlier
   * @throws ConfigurationError naming every option that is wrong
   */
  observe(service: OpenService, options = this.options): () => void {
    const end = observeIdService(service, options);
    this.ends.push(end);
    return end;
  }

  /** Called by Nest: ends the observation. */
  onApplicationShutdown(): void {
    for (const end of this.ends.splice(0)) end();
  }
}
