import type { Metric } from 'prom-client';
import { histogramSamples, writtenMetric } from './prometheus-form.js';

/** From an ID that is at hand to a stream of millions, s. */
const BOUNDARIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Every other one would be a series that a client makes up. */
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const NAME = 'http_server_request_duration_seconds';

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Of each bucket alone; the last one has no upper boundary. */
  readonly counts: number[];
  sum: number;
}

export type Recorder = (method: string, status: number, seconds: number) => void;

/**
 * How long requests take, by method, route and status. Named and labelled as OpenTelemetry's conventions for HTTP servers
 * have it. Every request passes here: prom-client's own histogram, which looks its series up by a text made of all
 * labels, took 0.8 µs of the 17 that a request takes.
 */
export class RequestDurations {
  private readonly all: Series[] = [];
  private readonly recorders = new Map<string, Recorder>();

  /** What records the answers of a route; the same one for the same name. */
  recorderOf(route: string): Recorder {
    const known = this.recorders.get(route);
    if (known !== undefined) return known;
    const series = new Map<number, Series>();
    const recorder: Recorder = (method, status, seconds) => {
      const index = METHODS.indexOf(method);
      const key = status * METHODS.length * 2 + index;
      let one = series.get(key);
      if (one === undefined) series.set(key, (one = this.begin(METHODS[index] ?? '_OTHER', route, status)));
      let bucket = 0;
      while (bucket < BOUNDARIES.length && seconds > BOUNDARIES[bucket]!) bucket++;
      one.counts[bucket]!++;
      one.sum += seconds;
    };
    this.recorders.set(route, recorder);
    return recorder;
  }

  /** For prom-client to write. */
  get metric(): Metric {
    const values = this.all.flatMap(({ labels, counts, sum }) => {
      const count = counts.reduce((total, each) => total + each, 0);
      return histogramSamples(NAME, { buckets: { boundaries: BOUNDARIES, counts }, sum, count }, labels);
    });
    const help = 'How long requests took, to the last byte of the answer';
    return writtenMetric({ name: NAME, help, type: 'histogram', values });
  }

  private begin(method: string, route: string, status: number): Series {
    const labels = { http_request_method: method, http_route: route, http_response_status_code: String(status) };
    const series = { labels, counts: Array<number>(BOUNDARIES.length + 1).fill(0), sum: 0 };
    this.all.push(series);
    return series;
  }
}
