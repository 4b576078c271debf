import type { Attributes, Meter } from '@opentelemetry/api';
import {
  MeterProvider,
  MetricReader,
  type DataPoint,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';

/** Collects when it is told to. */
class ManualReader extends MetricReader {
  protected onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** An OpenTelemetry SDK whose metrics are at hand. */
export class CollectedMetrics {
  private readonly reader = new ManualReader();
  readonly provider = new MeterProvider({ readers: [this.reader] });
  readonly meter: Meter = this.provider.getMeter('test');
  private collected = new Map<string, MetricData>();

  /** Collects anew. */
  async collect(): Promise<this> {
    const { resourceMetrics, errors } = await this.reader.collect();
    expect(errors).toEqual([]);
    const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
    this.collected = new Map(all.map((each) => [each.descriptor.name, each]));
    return this;
  }

  get names(): string[] {
    return [...this.collected.keys()].sort();
  }

  data(name: string): MetricData | undefined {
    return this.collected.get(name);
  }

  /** The values of an instrument, each under the value of an attribute; '-' where it is absent. */
  by(attribute: string, name: string, where: Attributes = {}): Record<string, number> {
    const points = (this.collected.get(name)?.dataPoints ?? []) as DataPoint<number>[];
    const chosen = points.filter(({ attributes }) =>
      Object.entries(where).every(([each, value]) => attributes[each] === value),
    );
    return Object.fromEntries(chosen.map(({ attributes, value }) => [String(attributes[attribute] ?? '-'), value]));
  }

  /** The value of an instrument for the service without a name. */
  value(name: string): number | undefined {
    return this.by('raindrop.service', name)['default'];
  }

  histogram(name: string): Histogram | undefined {
    return this.collected.get(name)?.dataPoints[0]?.value as Histogram | undefined;
  }
}
