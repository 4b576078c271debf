import { Controller, Get, Header, Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Attributes } from '@opentelemetry/api';
import {
  DataPointType,
  MeterProvider,
  MetricReader,
  type Histogram as OtelHistogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { IdService, InjectIdService, type NumberService } from '@raindrop/nestjs';
import { observeIdService } from '@raindrop/nestjs/opentelemetry';
import { collectDefaultMetrics, prometheusContentType, Registry, type Metric } from 'prom-client';
import { NUMBERS } from '../numbers/number-codes.js';
import { SERVICE_CONFIG, type ServiceConfig } from '../service-config.js';
import { RequestDurations } from './request-durations.js';

/** Collects when it is asked to, and never by itself. */
class ScrapeReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

/** The metrics of docs/metrics.md, read when Prometheus asks, those of the process, and how long requests take. */
@Injectable()
export class ServiceMetrics implements OnApplicationShutdown {
  private readonly process = new Registry();
  private readonly reader = new ScrapeReader();
  private readonly provider = new MeterProvider({ readers: [this.reader] });
  private readonly ends: readonly (() => void)[];

  readonly requestDurations = new RequestDurations();

  constructor(
    ids: IdService,
    @InjectIdService(NUMBERS) numbers: NumberService,
    @Inject(SERVICE_CONFIG) { knownCodes }: Pick<ServiceConfig, 'knownCodes'>,
  ) {
    this.process.registerMetric(this.requestDurations.metric);
    collectDefaultMetrics({ register: this.process });
    const meter = this.provider.getMeter('@raindrop/nestjs');
    // With known codes, no other code becomes a series.
    const codes = knownCodes.length > 0 ? { codes: knownCodes, firstCodes: 0 } : {};
    this.ends = [observeIdService(ids, { meter, ...codes }), observeIdService(numbers, { meter })];
  }

  /** In Prometheus's text format. */
  async text(): Promise<string> {
    const { resourceMetrics } = await this.reader.collect();
    const ours = new Registry();
    for (const { metrics } of resourceMetrics.scopeMetrics) {
      for (const metric of metrics) ours.registerMetric(prometheusForm(metric));
    }
    return `${await ours.metrics()}\n${await this.process.metrics()}`;
  }

  async onApplicationShutdown(): Promise<void> {
    for (const end of this.ends) end();
    this.process.clear();
    await this.provider.shutdown();
  }
}

/** Every other one would be a series that a client makes up. */
const METHODS: readonly string[] = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Has every answer's duration recorded, to its last byte; by route, never by the address that was asked for. */
export function measureRequests(app: NestFastifyApplication): void {
  const { requestDurations } = app.get(ServiceMetrics);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onResponse', (request, reply, done) => {
    const method = METHODS.includes(request.method) ? request.method : '_OTHER';
    const route = request.is404 ? '' : routeName(request.routeOptions.url ?? '');
    requestDurations.record(method, route, reply.statusCode, reply.elapsedTime / 1_000);
    done();
  });
}

/** The files of the page and of the API's description are one. */
function routeName(url: string): string {
  return /^\/(v1\/|health|metrics)/.test(url) ? url : '/*';
}

const EXAMPLE = `# HELP raindrop_ids_issued_total IDs issued. raindrop.code is absent for those without a code
# TYPE raindrop_ids_issued_total counter
raindrop_ids_issued_total{raindrop_service="default",raindrop_code="order"} 3
`;

@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: ServiceMetrics) {}

  @Get()
  @Header('content-type', prometheusContentType)
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'readMetrics', summary: 'Metrics for Prometheus' })
  @ApiResponse({
    status: 200,
    description: 'The metrics of docs/metrics.md, and those of the process.',
    content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  read(): Promise<string> {
    return this.metrics.text();
  }
}

/** Units whose names Prometheus wants at the end of a metric's; annotations such as {id} have none. */
const UNITS: Readonly<Record<string, string>> = { s: '_seconds', d: '_days' };

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly metricName?: string;
}

/**
 * An OpenTelemetry metric as prom-client writes it: dots become underscores, the unit ends the name, and `_total` that of
 * a counter, as the OpenTelemetry specification has it. @opentelemetry/exporter-prometheus leaves the unit out.
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

function histogramSamples(name: string, { buckets, sum, count }: OtelHistogram, labels: Sample['labels']): Sample[] {
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
