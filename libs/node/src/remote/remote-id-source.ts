import { OptionReader, PrefetchedIds, readPrefetchOptions } from '@raindrop/core/internal';
import type { Layout, PrefetchOptions, PrefetchPorts, ResolvedPrefetchOptions, SegmentPorts } from '@raindrop/core';
import type { IdSource, SourcedService } from '../ports/id-engine.js';
import { readCodes } from '../options/common-options.js';
import { systemPorts } from '../system/system-ports.js';
import { type RemoteWorker, SourcedEngine } from '../engines/sourced-engine.js';
import { RemoteBatchSource, type RemoteTransport } from './remote-batch-source.js';

/**
 * How IDs are fetched from another process, over HTTP or a channel. `maxCodes`, `maxBatch` and `asyncTimeoutMs` are
 * options of the module, or of `openIdService()`.
 */
export interface RemoteFetchOptions extends Omit<PrefetchOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'> {
  /**
   * Batches grow up to this many IDs while they are used up fast; `minStep`-10,000. Default 4,000, or `minStep` where
   * that is more.
   */
  maxStep?: number;
  /** Codes whose IDs are fetched at the start; those of other codes are fetched at their first use. */
  codes?: readonly string[];
}

/** The service that issues the fetched IDs. */
export interface RemoteClient {
  /** The service's name. Default `default`. */
  readonly name?: string;
  /** The layout that the IDs must have; others are refused. Default: that of the first answer. */
  readonly layout?: Layout | undefined;
  readonly generator?: { readonly [Name in keyof SourcedService['generator']]?: number | undefined };
}

/**
 * Another process as the source of IDs, for `RaindropModule.forRoot({ idSource })` or `openIdService({ idSource })`.
 */
export interface RemoteIdSource extends IdSource {
  /** @throws ConfigurationError naming every option that is wrong; the error that keeps the first IDs from coming */
  open(client: RemoteClient): Promise<SourcedEngine>;
}

/** What a transport is made for. */
export interface RemoteTarget {
  /** The name of the client's service. */
  readonly service: string;
  /** An attempt is given up after this time, ms. */
  readonly opTimeoutMs: number;
}

/** Makes the transport, once all options have been checked. */
type MakeTransport = (ports: SegmentPorts, target: RemoteTarget) => RemoteTransport | Promise<RemoteTransport>;

/** What differs between transports. */
interface RemoteSetup {
  /** The assigner's name in the status. Default `remote`. */
  readonly assigner?: string;
  /** Default: the ports of this process. */
  readonly ports?: PrefetchPorts;
}

/** The default of `maxStep`: a larger answer takes more than a millisecond to read. */
const MAX_STEP = 4_000;

/** These are options of the service that issues the IDs, and refused here. */
const ISSUING = ['maxCodes', 'maxBatch', 'asyncTimeoutMs'];

/**
 * Makes a source of IDs over a transport.
 * @param name the function that applications call, for messages
 * @param read reads the transport's own options from among all options
 */
export function remoteIdSource(
  name: string,
  options: RemoteFetchOptions,
  read: (reader: OptionReader) => MakeTransport,
  { assigner = 'remote', ports = systemPorts('exact') }: RemoteSetup = {},
): RemoteIdSource {
  return {
    name,
    open: async ({ name: service = 'default', layout, generator: { maxCodes, maxBatch, asyncTimeoutMs } = {} }) => {
      const reader = readerOf(options, { maxCodes, maxBatch, asyncTimeoutMs });
      const makeTransport = read(reader);
      const codes = readCodes(reader) ?? [];
      const prefetch = readPrefetchOptions(reader);
      reader.finish();
      const transport = await makeTransport(ports, { service, opTimeoutMs: prefetch.opTimeoutMs });
      return openRemoteEngine({ transport, assigner, layout, prefetch, codes, ports });
    },
  };
}

/** @throws ConfigurationError when `options` is no object, or holds an option of the service that issues the IDs */
function readerOf(options: RemoteFetchOptions, issuing: NonNullable<RemoteClient['generator']>): OptionReader {
  // A text in place of the options may be a URL with a password: the message does not show it.
  const own = new OptionReader(typeof options === 'object' ? options : undefined);
  const { minStep, maxStep = Math.max(MAX_STEP, Math.min(Number(minStep ?? 0) || 0, 10_000)) } = options;
  const reader = new OptionReader({ ...options, maxStep, ...issuing });
  for (const name of ISSUING) {
    if (own.value(name) === undefined) continue;
    reader.problem(name, own.value(name), 'is an option of the module, or of openIdService(): set it beside idSource');
  }
  return reader;
}

interface RemoteEngineOptions {
  readonly transport: RemoteTransport;
  readonly assigner: string;
  /** Undefined: that of the first answer. */
  readonly layout: Layout | undefined;
  readonly prefetch: ResolvedPrefetchOptions;
  /** Fetched at the start, besides IDs without a code. */
  readonly codes: readonly string[];
  readonly ports: PrefetchPorts;
}

/**
 * Opens the engine of fetched IDs; settles when the first ones are here.
 * @throws WaitTimeoutError, with its cause, when the service gives no IDs within ten times `opTimeoutMs`; at once
 * RemoteIdsRefusedError and RemoteLayoutError that are not retryable; InvalidCodeError
 */
async function openRemoteEngine(options: RemoteEngineOptions): Promise<SourcedEngine> {
  const { transport, assigner, layout, prefetch, codes, ports } = options;
  const source = new RemoteBatchSource(transport, prefetch, ports, layout);
  const calls = new PrefetchedIds(source, ports, prefetch);
  try {
    await calls.start(codes);
    const remoteWorker = (): RemoteWorker => ({
      assigner,
      // The operator who configured this source vouches for the service.
      guarantee: 'declared',
      state: (transport.isConnected ?? source.isAnswering) ? 'held' : 'lost',
      workerId: transport.isConnected === false ? undefined : source.workerId,
    });
    // The first answer has named the layout.
    return new SourcedEngine(calls, source.layout!, remoteWorker, () => source.close());
  } catch (error) {
    calls.close();
    source.close();
    throw error;
  }
}
