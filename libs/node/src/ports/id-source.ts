import type { Layout, ResolvedGeneratorOptions } from '@raindrop/core';
import type { IdEngine } from './id-engine.js';

/** What a service is to be like whose IDs another process makes. */
export interface SourcedService {
  readonly name: string;
  /** What the options say; undefined for a source that brings its own when they say nothing. */
  readonly layout: Layout | undefined;
  readonly generator: Pick<ResolvedGeneratorOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'>;
}

/** Another process that makes a service's IDs, in the place of a worker id of its own. */
export interface IdSource {
  /** For errors and the log. */
  readonly name: string;
  /** The layout comes from there: options that make one may be left out. Default false. */
  readonly bringsLayout?: boolean;
  /** Settles when IDs are at hand. @throws what keeps them from coming */
  open(service: SourcedService): Promise<IdEngine>;
}
