import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { IdService, InjectIdService } from '@raindrop/nestjs';
import { observeIdService } from '@raindrop/nestjs/opentelemetry';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { SERVICE_CONFIG } from '../service-config.token.js';
import type { ServiceConfig } from '../service-config.js';
import { NUMBERS } from '../numbers/number-codes.js';
import { prometheusForm } from './prometheus-form.js';

/** Collects when it is asked to, and never by itself. */
class ScrapeReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

/** The metrics of docs/operations.md, read when Prometheus asks, those of the process, and how long requests take. */
@Injectable()
export class ServiceMetrics implements OnApplicationShutdown {
  private readonly process = new Registry();
  private readonly reader = new ScrapeReader();
  private readonly provider = new MeterProvider({ readers: [this.reader] });
  private readonly ends: readonly (() => void)[];

  /** Named and labelled as OpenTelemetry's conventions for HTTP servers have it. */
  readonly requestDurations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'How long requests took, to the last byte of the answer',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    // From an ID that is at hand to a stream of millions.
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.process],
  });

  constructor(
    ids: IdService,
    @InjectIdService(NUMBERS) numbers: IdService,
    @Inject(SERVICE_CONFIG) { knownCodes }: Pick<ServiceConfig, 'knownCodes'>,
  ) {
    collectDefaultMetrics({ register: this.process });
    const meter = this.provider.getMeter('@raindrop/nestjs');
    // Where the codes are known nobody else's becomes a series.
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
