import type { Attributes } from '@opentelemetry/api';
import { DataPointType, type Histogram, type MetricData } from '@opentelemetry/sdk-metrics';
import type { Metric } from 'prom-client';

/** Units whose names Prometheus wants at the end of a metric's; annotations such as {id} have none. */
const UNITS: Readonly<Record<string, string>> = { s: '_seconds', d: '_days' };

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly metricName?: string;
}

/**
 * An OpenTelemetry metric as prom-client writes it: dots become underscores, the unit ends the name, and `_total` that of
 * a counter, as the OpenTelemetry specification has it.
 */
export function prometheusForm(data: MetricData): Metric {
  const { name, unit, description } = data.descriptor;
  const isCounter = data.dataPointType === DataPointType.SUM && data.isMonotonic;
  const base = nameOf(name) + (UNITS[unit] ?? '');
  const written = {
    name: isCounter ? `${base}_total` : base,
    help: description,
    type: data.dataPointType === DataPointType.HISTOGRAM ? 'histogram' : isCounter ? 'counter' : 'gauge',
    values: samplesOf(data, base),
  };
  // All that prom-client asks of a metric in order to write it.
  return { name: written.name, get: () => Promise.resolve(written) } as unknown as Metric;
}

function samplesOf(data: MetricData, name: string): readonly Sample[] {
  if (data.dataPointType === DataPointType.HISTOGRAM) {
    return data.dataPoints.flatMap(({ value, attributes }) => histogramSamples(name, value, labelsOf(attributes)));
  }
  return data.dataPoints.flatMap(({ value, attributes }) =>
    typeof value === 'number' ? [{ value, labels: labelsOf(attributes) }] : [],
  );
}

function histogramSamples(name: string, { buckets, sum, count }: Histogram, labels: Sample['labels']): Sample[] {
  let below = 0;
  const counted = buckets.boundaries.map((le, index) => {
    below += buckets.counts[index]!;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(le) }, value: below };
  });
  return [
    ...counted,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum ?? 0 },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

function labelsOf(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [nameOf(name), String(value)]));
}

function nameOf(name: string): string {
  return name.replaceAll('.', '_');
}
