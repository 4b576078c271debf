import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';

/** Names the environment variable that holds a {@link FamilySetup}, as JSON. */
export const SETUP_VARIABLE = 'RAINDROP_TEST_FAMILY';

/** What a primary and its workers are to do. */
export interface FamilySetup {
  readonly database: DataSourceOptions;
  readonly options: SnowflakeModuleOptions;
  /** Where each process writes the IDs it has issued, before anybody else sees them. */
  readonly directory: string;
  /** Beside this file. */
  readonly workerScript: string;
  /** How long a worker waits for the primary's answer, and for IDs, ms. */
  readonly patienceMs: { readonly answer: number; readonly ids: number };
}

/** `issue`: so many IDs. `stream`: IDs until `stop`. To the primary: `fork` so many workers, `close`. */
export type FamilyCommand =
  | { readonly do: 'fork'; readonly count: number }
  | { readonly do: 'issue'; readonly count: number }
  | { readonly do: 'stream' | 'stop' | 'close' };

export type FamilyReport = { readonly pid: number } & (
  | { readonly kind: 'up' | 'lease-lost' | 'lease-regained' }
  /** A worker can issue, `startMs` after it began to open its service. */
  | { readonly kind: 'ready'; readonly startMs: number; readonly workerId: number | undefined }
  /** A worker has done what it was told, in `tookMs`; the codes of all refusals that it saw. */
  | { readonly kind: 'done'; readonly tookMs: number; readonly refusals: readonly string[] }
  /** A worker was refused with a code for the first time since it was told to go on. */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'gone'; readonly signal: string | null }
  | { readonly kind: 'failed'; readonly message: string }
);
