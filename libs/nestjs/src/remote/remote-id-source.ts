import {
  OptionReader,
  readPrefetchOptions,
  type Layout,
  type PrefetchOptions,
  type SegmentPorts,
} from '@raindrop/core';
import type { IdSource, SourcedService } from '../id-source/id-source.js';
import { systemPorts } from '../system/system-ports.js';
import { openRemoteEngine } from './open-remote-engine.js';
import type { SourcedEngine } from '../id-source/sourced-engine.js';
import type { RemoteTransport } from './remote-transport.js';

/** How IDs are fetched from a service, whatever the way there. The rest is among the options of who issues them. */
export interface RemoteFetchOptions extends Omit<PrefetchOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'> {
  /** Batches grow up to this many IDs while they are used up fast, `minStep`-10,000. Default 4,000. */
  maxStep?: number;
  /** Codes whose IDs are at hand from the start on; those of others are fetched with their first use. */
  codes?: readonly string[];
}

/** Who takes the IDs. */
export interface RemoteClient {
  /** What the IDs have to have; another one is refused. Default: the service's. */
  readonly layout?: Layout | undefined;
  readonly generator?: { readonly [Name in keyof SourcedService['generator']]?: number | undefined };
}

/** An ID service elsewhere, for `RaindropModule.forRoot({ idSource })` or `RemoteIdService.open()`. */
export interface RemoteIdSource extends IdSource {
  /** The layout is the service's: the module needs no layout options. */
  readonly bringsLayout: true;
  /** @throws ConfigurationError naming every option that is wrong; what keeps the first IDs from coming */
  open(client: RemoteClient): Promise<SourcedEngine>;
}

/** Makes the way to a service, once its options are found to be right. */
export type RemoteWay = (ports: SegmentPorts) => RemoteTransport | Promise<RemoteTransport>;

/** Larger answers take more than a millisecond to read. */
const MAX_STEP = 4_000;

/** @param read reads the options of the way from among all options */
export function remoteIdSource(
  name: string,
  options: RemoteFetchOptions,
  read: (reader: OptionReader) => RemoteWay,
): RemoteIdSource {
  return {
    name,
    bringsLayout: true,
    open: async ({ layout, generator: { maxCodes, maxBatch, asyncTimeoutMs } = {} }) => {
      const reader = new OptionReader({ maxStep: MAX_STEP, ...options, maxCodes, maxBatch, asyncTimeoutMs });
      const way = read(reader);
      const codes = readCodes(reader);
      const prefetch = readPrefetchOptions(reader);
      reader.finish();
      const ports = systemPorts('exact');
      return openRemoteEngine({ transport: await way(ports), layout, prefetch, codes, ports });
    },
  };
}

function readCodes(reader: OptionReader): readonly string[] {
  const given = reader.value('codes');
  if (given === undefined) return [];
  if (Array.isArray(given) && given.every((each) => typeof each === 'string')) return [...given];
  reader.problem('codes', given, 'must be a list of texts');
  return [];
}
