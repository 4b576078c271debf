import type { LeaseEvent, LeasePorts } from '@raindrop/core';
import type { SqlDatabase } from '../database/sql-database.js';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import type { MakeCustom } from './make-assigner.js';

/** What a worker is opened with. */
export interface WorkerContext {
  readonly options: ResolvedSnowflakeOptions;
  readonly ports: LeasePorts;
  /** The application's, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly makeCustom: MakeCustom;
  readonly onEvent: (event: LeaseEvent) => void;
}
