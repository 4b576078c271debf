export { RAINDROP_METRICS_OPTIONS, RaindropMetrics } from './raindrop.metrics.js';
export { observeIdService, type IdServiceMetricsOptions } from './observe-id-service.js';
