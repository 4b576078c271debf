import { Inject, Injectable, Optional, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { IdService } from '../id.service.js';
import { observeIdService, type IdServiceMetricsOptions } from './observe-id-service.js';

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
