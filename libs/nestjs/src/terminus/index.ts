/**
 * The health indicator; needs `@nestjs/terminus`.
 *
 * @module @raindrop/nestjs/terminus
 */

export { RaindropHealthIndicator, type RaindropHealthDetails } from './raindrop.health.js';
