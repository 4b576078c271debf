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
import { type Origin, SourcedEngine } from '../engines/sourced-engine.js';
import { RemoteBatchSource, type RemoteTransport } from './remote-batch-source.js';

/** Larger answers take more than a millisecond to read. */
const MAX_STEP = 4_000;

/** Which IDs are fetched ahead, and how many. */
export const fetchOptions = {
  ...prefetchOptions,
  /**
   * Batches grow up to this many IDs while they are used up fast.
   * @range `minStep` to 10,000
   * @defaultValue 4,000, or `minStep`
   */
  maxStep: integer({
    min: ({ minStep }: Numbers<'minStep'>) => minStep,
    max: 10_000,
    default: ({ minStep }: Numbers<'minStep'>) => Math.max(MAX_STEP, minStep),
    hint: 'at least minStep',
  }),
  /**
   * Codes whose IDs are at hand from the start on; those of others are fetched with their first use.
   * @range texts of 1-128 characters
   * @defaultValue none
   */
  codes: option<readonly string[], readonly string[] | undefined>(readCodes),
};

/** The options that stand beside `idSource`: of the service that hands the IDs out. */
const ISSUING = ['maxCodes', 'maxBatch', 'asyncTimeoutMs'] as const;

/**
 * The options say how IDs are fetched from a service, whatever the way there. The rest is among the options of who
 * issues them.
 */
export interface RemoteFetchOptions extends Omit<OptionsOf<typeof fetchOptions>, (typeof ISSUING)[number]> {}

/** The client that takes the IDs. */
export interface RemoteClient {
  /** The service's name. Default `default`. */
  readonly name?: string;
  /** What the IDs have to have; another one is refused. Default: the service's. */
  readonly layout?: Layout | undefined;
  readonly generator?: { readonly [Name in keyof SourcedService['generator']]?: number | undefined };
}

/** An ID service elsewhere, for `RaindropModule.forRoot({ idSource })` or `openIdService({ idSource })`. */
export interface RemoteIdSource extends IdSource {
  /** @throws ConfigurationError naming every option that is wrong; what keeps the first IDs from coming */
  open(client: RemoteClient): Promise<SourcedEngine>;
}

/** What a way has to know of the client. */
export interface RemoteTarget {
  /** The name of the client's service. */
  readonly service: string;
  /** An attempt is given up after so long, ms. */
  readonly opTimeoutMs: number;
}

/** Makes the way to a service, once its options are found to be right. */
type RemoteWay = (ports: SegmentPorts, target: RemoteTarget) => RemoteTransport | Promise<RemoteTransport>;

/** What differs between the ways. */
interface RemoteSetup {
  /** What stands in the status for the assigner's name. Default `remote`. */
  readonly assigner?: string;
  /** Default: those of this process. */
  readonly ports?: PrefetchPorts;
}

/** @param read reads the options of the way from among all options */
export function remoteIdSource(
  name: string,
  options: RemoteFetchOptions,
  read: (reader: OptionReader) => RemoteWay,
  { assigner = 'remote', ports = systemPorts('exact') }: RemoteSetup = {},
): RemoteIdSource {
  return {
    name,
    open: async ({ name: service = 'default', layout, generator: { maxCodes, maxBatch, asyncTimeoutMs } = {} }) => {
      const reader = readerOf(options, { maxCodes, maxBatch, asyncTimeoutMs });
      const way = read(reader);
      const { codes = [], ...prefetch } = readOptions(reader, fetchOptions);
      reader.finish();
      const transport = await way(ports, { service, opTimeoutMs: prefetch.opTimeoutMs });
      return openRemoteEngine({ transport, assigner, layout, prefetch, codes, ports });
    },
  };
}

/** @throws ConfigurationError when there are no options to read, or those of somebody else among them */
function readerOf(options: RemoteFetchOptions, issuing: NonNullable<RemoteClient['generator']>): OptionReader {
  // A text may be a URL with a password: it is not shown.
  const own = new OptionReader(typeof options === 'object' ? options : undefined);
  const reader = new OptionReader({ ...options, ...issuing });
  for (const name of ISSUING) {
    if (own.value(name) === undefined) continue;
    reader.problem(name, own.value(name), 'is an option of the module, or of openIdService(): set it beside idSource');
  }
  return reader;
}

interface RemoteEngineOptions {
  readonly transport: RemoteTransport;
  readonly assigner: string;
  /** Undefined takes the service's. */
  readonly layout: Layout | undefined;
  readonly prefetch: ResolvedPrefetchOptions;
  /** Kept at hand from the start on, besides IDs without a code. */
  readonly codes: readonly string[];
  readonly ports: PrefetchPorts;
}

/**
 * IDs that a service makes; settles when some are at hand.
 * @throws WaitTimeoutError, with its cause, when the service does not answer within ten times `opTimeoutMs`;
 * RemoteIdsRefusedError and RemoteLayoutError at once when they cannot pass by themselves; InvalidCodeError
 */
async function openRemoteEngine(options: RemoteEngineOptions): Promise<SourcedEngine> {
  const { transport, assigner, layout, prefetch, codes, ports } = options;
  const source = new RemoteBatchSource(transport, prefetch, ports, layout);
  const calls = new PrefetchedIds(source, ports, prefetch);
  try {
    await calls.start(codes);
    // Nothing starts without an answer, and each one names its layout.
    const origin = (): Origin => ({
      assigner,
      // What whoever named the service vouches for.
      guarantee: 'declared',
      state: (transport.isConnected ?? source.isAnswering) ? 'held' : 'lost',
      workerId: transport.isConnected === false ? undefined : source.workerId,
    });
    return new SourcedEngine(calls, source.layout!, origin, () => source.close());
  } catch (error) {
    calls.close();
    source.close();
    throw error;
  }
}
