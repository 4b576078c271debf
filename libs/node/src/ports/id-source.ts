import type { Layout, ResolvedGeneratorOptions } from '@raindrop/core';
import type { IdEngine } from './id-engine.js';

/** A source is told what the service is to be like whose IDs it makes. */
export interface SourcedService {
  readonly name: string;
  /** What the options say; undefined when they say nothing, and the other process is to tell its own. */
  readonly layout: Layout | undefined;
  readonly generator: Pick<ResolvedGeneratorOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'>;
}

/** Another process that makes a service's IDs, in the place of a worker id of its own. */
export interface IdSource {
  /** For errors and the log. */
  readonly name: string;
  /** Settles when IDs are at hand. @throws what keeps them from coming */
  open(service: SourcedService): Promise<IdEngine>;
}
