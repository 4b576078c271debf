import { Layout, type ResolvedGeneratorOptions } from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';
import type { SourcedEngine } from '../engines/sourced-engine.js';
import { IdService } from '../id-service.js';
import type { SnowflakeServiceStatus } from '../ports/id-service-status.js';
import type { RemoteIdSource } from './remote-id-source.js';

/** How a service that is not part of a Nest module behaves. */
export interface RemoteIdServiceOptions extends Partial<
  Pick<ResolvedGeneratorOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'>
> {
  /** For the status. Default `remote`. */
  name?: string;
  /** What the IDs have to have; another one is refused. Default: the service's. */
  layout?: Layout;
}

/**
 * Issues IDs that an ID service elsewhere makes, without `RaindropModule`: for scripts, and for applications without
 * entities. It needs no layout and no database. Take the async calls: the others throw when too few IDs are at hand.
 *
 * In an application prefer the module with `idSource`, which has `@GeneratedSnowflake()` as well.
 */
export class RemoteIdService extends IdService {
  declare protected readonly engine: SourcedEngine;

  /**
   * Opens a service; it settles when IDs are at hand.
   * @param source what `remoteIds()` or `remoteIdsTcp()` returns
   * @throws ConfigurationError naming every option that is wrong; WaitTimeoutError, with its cause, when the service does
   * not answer within ten times `opTimeoutMs`; RemoteIdsRefusedError; RemoteLayoutError
   */
  static async open(source: RemoteIdSource, options: RemoteIdServiceOptions = {}): Promise<RemoteIdService> {
    const reader = new OptionReader(options);
    const name = reader.string('name', { fallback: 'remote', pattern: /^.{1,128}$/s, legal: '1 to 128 characters' });
    const layout = reader.value('layout');
    if (layout !== undefined && !(layout instanceof Layout)) {
      reader.problem('layout', layout, 'must be a Layout, as createLayout() returns it');
    }
    const { maxCodes, maxBatch, asyncTimeoutMs } = options;
    for (const option of ['maxCodes', 'maxBatch', 'asyncTimeoutMs']) reader.value(option);
    const given: Partial<RemoteIdSource> | null | undefined = source;
    if (given?.bringsLayout !== true || typeof given.open !== 'function') {
      // It may hold a password.
      reader.problem('source', `(${typeof given})`, 'must be what remoteIds() or remoteIdsTcp() returns');
    }
    reader.finish();
    const generator = { maxCodes, maxBatch, asyncTimeoutMs };
    return new RemoteIdService(name, await source.open({ layout: options.layout, generator }));
  }

  /** Tells how the service is, and what it has counted. */
  override status(): SnowflakeServiceStatus {
    return this.engine.status(this.name);
  }

  /** Closes the service; Nest calls it when the application has shut down. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}
