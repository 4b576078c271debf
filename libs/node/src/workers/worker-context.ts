import type { LeaseEvent, LeasePorts, WorkerIdGuarantee, WorkerStore } from '@raindrop/core';
import type { SqlDatabase } from '../database/sql-database.js';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import type { ResolvedAssignerOptions } from '../options/assigner-options.js';
import type { MakeCustom } from './make-assigner.js';

/** A store that is open already, for what it says of the layout. */
interface FoundLayout {
  readonly store: WorkerStore;
  /** Whether nothing was issued with the layout before. */
  readonly isFirst: boolean;
}

/** What a worker is opened with. */
export interface WorkerContext {
  readonly options: ResolvedSnowflakeOptions;
  readonly ports: LeasePorts;
  /** The application's, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly makeCustom: MakeCustom;
  readonly onEvent: (event: LeaseEvent) => void;
  /** Where the layout was found, when the options name none. */
  readonly found?: FoundLayout | undefined;
}

/** How far the clocks of two hosts between which a worker id moves may be apart, ms: with NTP it is some ms. */
const BETWEEN_HOSTS_MS = 1_000;

/** How far ahead of the clock the last holder of a worker id may have issued, ms; false when there was none. */
export function restartWaitOf(guarantee: WorkerIdGuarantee, options: ResolvedAssignerOptions): number | false {
  if (guarantee === 'fresh') return false;
  return options.restartWaitMs ?? options.borrowMs + (guarantee === 'exclusive' ? BETWEEN_HOSTS_MS : 0);
}
