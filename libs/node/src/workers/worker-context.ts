import type { LeaseEvent, LeasePorts, WorkerStore } from '@raindrop/core';
import type { SqlDatabase } from '../database/sql-database.js';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import type { MakeCustom } from './make-assigner.js';

/** A store that is open already, for what it says of the layout. */
export interface FoundLayout {
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
