/**
 * Metrics of the services; needs `@opentelemetry/api`.
 *
 * @module @raindrop/nestjs/opentelemetry
 */

export { RAINDROP_METRICS_OPTIONS, RaindropMetrics } from './raindrop.metrics.js';
export { observeIdService, type IdServiceMetricsOptions } from './observe-id-service.js';
