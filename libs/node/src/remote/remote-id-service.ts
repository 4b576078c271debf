import { inspect } from 'node:util';
import {
  Layout,
  parseId,
  type IdCalls,
  type ParsedId,
  type RaindropError,
  type ResolvedGeneratorOptions,
  type WaitOptions,
} from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';
import type { SourcedEngine } from '../engines/sourced-engine.js';
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
 * The async half of `IdService` over an ID service elsewhere, without `RaindropModule`: for scripts, and for applications
 * without entities. It needs no layout and no database.
 *
 * In an application prefer the module with `idSource`, which has the sync calls and `@GeneratedSnowflake()` as well.
 */
export class RemoteIdService implements Pick<
  IdCalls,
  'nextIdAsync' | 'nextStringAsync' | 'nextIdsAsync' | 'nextStringsAsync' | 'fillAsync' | 'refusal'
> {
  private constructor(
    private readonly name: string,
    private readonly engine: SourcedEngine,
  ) {}

  /**
   * A service that has IDs at hand.
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

  /** That of the IDs. */
  get layout(): Layout {
    return this.engine.layout;
  }

  /**
   * From memory, or as soon as one has come; first come, first served.
   * @throws WaitTimeoutError after `timeoutMs`, with what it waited for as its cause; what the service refuses with;
   * ClosedError; the signal's reason when aborted
   */
  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.engine.calls.nextIdAsync(code, wait);
  }

  /** As {@link nextIdAsync}, as decimal text: what belongs into JSON. */
  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return this.engine.calls.nextStringAsync(code, wait);
  }

  /** `count` IDs, 1 to `maxBatch`. When it gives up, none was taken. */
  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.engine.calls.nextIdsAsync(count, code, wait);
  }

  /** As {@link nextIdsAsync}, as decimal text. */
  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.engine.calls.nextStringsAsync(count, code, wait);
  }

  /** As {@link nextIdsAsync}, into an array of yours. */
  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.engine.calls.fillAsync(target, code, wait);
  }

  /** Why an ID would have to be waited for at this moment; undefined when it would not. Nothing is issued or fetched. */
  refusal(code?: string): RaindropError | undefined {
    return this.engine.calls.refusal(code);
  }

  /** What an ID says. @throws InvalidIdError; TimestampOverflowError */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /** Its health and counters. */
  status(): SnowflakeServiceStatus {
    return this.engine.status(this.name);
  }

  /** What a log shows of it. */
  toJSON(): SnowflakeServiceStatus {
    return this.status();
  }

  /** What `console.log` shows of it. */
  [inspect.custom](): SnowflakeServiceStatus {
    return this.status();
  }

  /**
   * To be called when this process may be a copy of another, made by a snapshot of its memory: what is at hand or under way
   * is never used.
   */
  afterRestore(): void {
    this.engine.afterRestore();
  }

  /** From this moment on every call throws ClosedError, also those that wait. What was not used is a gap. */
  async close(): Promise<void> {
    await this.engine.close();
  }

  /** Nest calls it when the application has shut down. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}
