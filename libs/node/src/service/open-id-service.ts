import { OptionReader, wallClock } from '@raindrop/core/internal';
import type { WorkerIdAssigner } from '@raindrop/core';
import { openEngine } from '../engines/open-engine.js';
import { IdService, type NumberService } from './id-service.js';
import type { AssignerClass } from '../options/assigner-options.js';
import { guardedLogger } from '../options/common-options.js';
import { resolveServiceOptions } from '../options/resolve-options.js';
import type { ServiceOptions } from '../options/service-options.js';
import { consoleLogger, DEFAULT_SERVICE } from '../ports/logger.js';

/** The options of {@link openIdService}: the options of a service, and its name. */
export type OpenIdServiceOptions = ServiceOptions & {
  /**
   * The service's name, for the log, the status and `@GeneratedSnowflake({ service })`.
   * @range 1-128 characters
   * @defaultValue `default`
   */
  name?: string;
};

/**
 * Opens a service that issues IDs, without a framework: for scripts, seeds, migrations and servers of any kind.
 *
 * It settles when the service has a worker id, or its first numbers, and can issue IDs at once. Call `close()` when the
 * process ends: then other processes can have the worker id at once. Without it they wait until the lease has run out.
 *
 * @example const ids = await openIdService({ dbConfig: 'postgres://app@localhost/app', ...layout });
 * @throws ConfigurationError naming every option that is wrong; the error that keeps the service from getting a worker
 * id:
 *   NoFreeWorkerError, DatabaseCallError and DatabaseRefusedError
 */
export function openIdService(options: OpenIdServiceOptions & { idMode: 'numberSection' }): Promise<NumberService>;
export function openIdService(options: OpenIdServiceOptions & { idMode?: 'snowflake' }): Promise<IdService>;
export function openIdService(options: OpenIdServiceOptions): Promise<IdService | NumberService>;
export async function openIdService(options: OpenIdServiceOptions): Promise<IdService | NumberService> {
  let name = DEFAULT_SERVICE;
  const resolved = resolveServiceOptions(options, wallClock.now(), (reader) => {
    name = readName(reader);
    return {};
  });
  const logger = guardedLogger(resolved.logger ?? consoleLogger);
  return new IdService(name, await openEngine(resolved, { name, database: undefined, logger, makeCustom }));
}

function readName(reader: OptionReader): string {
  return reader.string('name', { fallback: DEFAULT_SERVICE, pattern: /^.{1,128}$/s, legal: '1 to 128 characters' });
}

function makeCustom(assigner: AssignerClass): Promise<WorkerIdAssigner> {
  return Promise.resolve(new assigner());
}
