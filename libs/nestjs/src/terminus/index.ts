export { RaindropHealthIndicator, type RaindropHealthDetails } from './raindrop.health.js';
