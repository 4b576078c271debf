import { ValueType, type Histogram, type Meter, type MetricOptions, type Observable } from '@opentelemetry/api';

/** From a local socket to the longest `opTimeoutMs` that makes sense, s. */
const RENEWAL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The instruments of a meter. Asking a meter for the same ones again yields the same series. */
export class IdServiceInstruments {
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
