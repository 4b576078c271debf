import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import { prometheusForm } from './metrics.controller.js';

class Reader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

describe('prometheusForm', () => {
  const reader = new Reader();
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test');

  const text = async (): Promise<string> => {
    const { resourceMetrics } = await reader.collect();
    const registry = new Registry();
    for (const metric of resourceMetrics.scopeMetrics[0]!.metrics) registry.registerMetric(prometheusForm(metric));
    return registry.metrics();
  };

  it('names and writes every kind as OpenTelemetry says that Prometheus has it', async () => {
    meter.createCounter('a.count', { unit: '{id}', description: 'Counted\nup' }).add(3, { 'a.code': 'say "\\"\n' });
    meter.createUpDownCounter('b.count', { unit: '{code}' }).add(-2);
    meter.createObservableGauge('c.offset', { unit: 's' }).addCallback((result) => result.observe(0.25));
    meter.createObservableGauge('d.left', { unit: 'd' }).addCallback((result) => result.observe(99));
    const advice = { explicitBucketBoundaries: [0.1, 1] };
    const durations = meter.createHistogram('e.duration', { unit: 's', advice });
    for (const took of [0.05, 0.5, 0.7, 5]) durations.record(took, { 'a.b': 'x' });
    expect(await text()).toBe(`# HELP a_count_total Counted\\nup
# TYPE a_count_total counter
a_count_total{a_code="say \\"\\\\\\"\\n"} 3

# HELP b_count${' '}
# TYPE b_count gauge
b_count -2

# HELP c_offset_seconds${' '}
# TYPE c_offset_seconds gauge
c_offset_seconds 0.25

# HELP d_left_days${' '}
# TYPE d_left_days gauge
d_left_days 99

# HELP e_duration_seconds${' '}
# TYPE e_duration_seconds histogram
e_duration_seconds_bucket{a_b="x",le="0.1"} 1
e_duration_seconds_bucket{a_b="x",le="1"} 3
e_duration_seconds_bucket{a_b="x",le="+Inf"} 4
e_duration_seconds_sum{a_b="x"} 6.25
e_duration_seconds_count{a_b="x"} 4
`);
  });
});
