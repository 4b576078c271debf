import { Histogram, Registry } from 'prom-client';
import { RequestDurations } from './request-durations.js';

describe('RequestDurations', () => {
  it('writes what the histogram of prom-client writes', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const durations = new RequestDurations();
    ours.registerMetric(durations.metric);
    const histogram = new Histogram({
      name: 'http_server_request_duration_seconds',
      help: 'Duration of requests, to the last byte of the answer',
      labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [theirs],
    });
    expect(await ours.metrics()).toBe(await theirs.metrics());
    const requests: [method: string, route: string, status: number][] = [
      ['POST', '/v1/ids', 201],
      ['POST', '/v1/ids', 400],
      ['_OTHER', '', 405],
      ['GET', '/v1/ids/:id', 200],
    ];
    for (const [method, route, status] of requests) {
      for (const seconds of [0, 0.0004, 0.001, 0.0011, 0.2, 10, 10.5, 4_000]) {
        durations.record(method, route, status, seconds);
        histogram.labels(method, route, String(status)).observe(seconds);
      }
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
  });
});
