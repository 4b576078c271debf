import {
  integer,
  type Numbers,
  option,
  OptionReader,
  type OptionsOf,
  PrefetchedIds,
  prefetchOptions,
  readOptions,
} from '@raindrop/core/internal';
import type { Layout, PrefetchPorts, ResolvedPrefetchOptions, SegmentPorts } from '@raindrop/core';
import type { IdSource, SourcedService } from '../ports/id-engine.js';
import { readCodes } from '../options/common-options.js';
import { systemPorts } from '../system/system-ports.js';
import { type RemoteWorker, SourcedEngine } from '../engines/sourced-engine.js';
import { RemoteBatchSource, type RemoteTransport } from './remote-batch-source.js';

/** Larger answers take more than a millisecond to read. */
const MAX_STEP = 4_000;

/** Which IDs are fetched ahead, and how many. */
export const fetchOptions = {
  ...prefetchOptions,
  /**
   * Batches grow up to this many IDs while they are used up fast.
   * @range `minStep` to 10,000 @defaultValue 4,000, or `minStep`
   */
  maxStep: integer({
    min: ({ minStep }: Numbers<'minStep'>) => minStep,
    max: 10_000,
    default: ({ minStep }: Numbers<'minStep'>) => Math.max(MAX_STEP, minStep),
    hint: 'at least minStep',
  }),
  /**
   * Codes whose IDs are at hand from the start on; those of others are fetched with their first use.
   * @range strings of 1-128 characters @defaultValue none
   */
  codes: option<readonly string[], readonly string[] | undefined>(readCodes),
};

/** The options that stand beside `idSource`: of the service that hands the IDs out. */
const ISSUING = ['maxCodes', 'maxBatch', 'asyncTimeoutMs'] as const;

/**
 * How IDs are fetched from another process. `maxCodes`, `maxBatch` and `asyncTimeoutMs` are
 * options of the module, or of `openIdService()`.
 */
export interface RemoteFetchOptions extends Omit<OptionsOf<typeof fetchOptions>, (typeof ISSUING)[number]> {}

/** The service that issues the fetched IDs. */
export interface RemoteClient {
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

/** Makes the transport, once all options have been checked. */
type MakeTransport = (ports: SegmentPorts) => RemoteTransport;

/**
 * Makes a source of IDs over a transport.
 * @param read reads the transport's own options from among all options
 */
export function remoteIdSource(
  options: RemoteFetchOptions,
  read: (reader: OptionReader) => MakeTransport,
): RemoteIdSource {
  const ports = systemPorts('exact');
  return {
    name: 'remoteIds()',
    open: async ({ layout, generator: { maxCodes, maxBatch, asyncTimeoutMs } = {} }) => {
      const reader = readerOf(options, { maxCodes, maxBatch, asyncTimeoutMs });
      const makeTransport = read(reader);
      const { codes = [], ...prefetch } = readOptions(reader, fetchOptions);
      reader.finish();
      return openRemoteEngine({ transport: makeTransport(ports), layout, prefetch, codes, ports });
    },
  };
}

/** @throws ConfigurationError when `options` is no object, or holds an option of the service that issues the IDs */
function readerOf(options: RemoteFetchOptions, issuing: NonNullable<RemoteClient['generator']>): OptionReader {
  // A text in place of the options may be a URL with a password: the message does not show it.
  const own = new OptionReader(typeof options === 'object' ? options : undefined);
  const reader = new OptionReader({ ...options, ...issuing });
  for (const name of ISSUING) {
    if (own.value(name) === undefined) continue;
    reader.problem(name, own.value(name), 'is an option of the module, or of openIdService(): set it next to idSource');
  }
  return reader;
}

interface RemoteEngineOptions {
  readonly transport: RemoteTransport;
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
  const { transport, layout, prefetch, codes, ports } = options;
  const source = new RemoteBatchSource(transport, prefetch, ports, layout);
  const calls = new PrefetchedIds(source, ports, prefetch);
  try {
    await calls.start(codes);
    const remoteWorker = (): RemoteWorker => ({
      assigner: 'remote',
      // The operator who configured this source vouches for the service.
      guarantee: 'declared',
      state: source.isAnswering ? 'held' : 'lost',
      workerId: source.workerId,
    });
    // The first answer has named the layout.
    return new SourcedEngine(calls, source.layout!, remoteWorker, () => source.close());
  } catch (error) {
    calls.close();
    source.close();
    throw error;
  }
}
