/**
 * The real service with a clock and a lease that a test steers.
 *
 * @module @raindrop/nestjs/testing
 */

export { RaindropTestingModule, type RaindropTestingModuleOptions } from './raindrop-testing.module.js';
export { createTestIdService, RaindropTestbed, getTestbedToken } from './raindrop-testbed.js';
export type { TestIdServiceOptions } from './testing.options.js';
export type { TestClock } from './manual-clock.js';
