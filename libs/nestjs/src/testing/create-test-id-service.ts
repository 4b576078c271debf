import { RaindropTestbed } from './raindrop-testbed.js';
import type { TestIdServiceOptions } from './testing.options.js';

/**
 * Makes an `IdService` without Nest, without a database and without waiting:
 * `const { ids, clock } = createTestIdService();`
 * @throws ConfigurationError naming every option that is wrong
 */
export function createTestIdService(options: TestIdServiceOptions = {}): RaindropTestbed {
  return new RaindropTestbed(options);
}
