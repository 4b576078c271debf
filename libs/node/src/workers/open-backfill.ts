import { ConfigurationError, type LeasePorts, type PastIds, type WorkerStore } from '@raindrop/core';
import {
  DEFAULT_LAYOUT,
  findLayout,
  option,
  type OptionReader,
  parseEpoch,
  readOptions,
  type ReadOptions,
  reservePast,
  StoreSession,
  wallClock,
  withFoundLayout,
} from '@raindrop/core/internal';
import { databaseOf } from '../database/application-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { isTableName, parseTableName } from '../database/table-name.js';
import { isSegmentMode, type ResolvedSnowflakeOptions, resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { systemPorts } from '../system/system-ports.js';
import { type IdColumn, IdTables, PastOccupiedError } from './occupied-past.js';
import { openReservingStore, reservingOf } from './open-worker-store.js';
import { workerIdentity } from './open-worker.js';

/** A table that a backfill searches for IDs. */
export interface BackfillTable {
  /** `orders` or `shop.orders`. */
  readonly table: string;
  /** The column of IDs, an integer. Default `id`. */
  readonly column?: string;
}

/** How many rows are tried where tables have IDs of the worker. */
const MOST_ROWS = 3;

/** How far ahead of the asked time an ID may lie where its tick is used up, ms. */
const MAX_AHEAD_MS = 60_000;

const backfillOptions = {
  from: option<Date | string | number, number | undefined>(readTime, { isRequired: true }),
  to: option<Date | string | number, number | undefined>(readTime),
  tables: option<readonly (string | BackfillTable)[], readonly IdColumn[]>(readTables, { isRequired: true }),
};

/** The options of {@link openBackfill}: those of the service whose IDs are made, and the stretch of the past. */
export interface BackfillOptions extends SnowflakeModuleOptions {
  /** The time of the oldest row: a Date, an ISO string (UTC where it names no zone) or Unix ms. */
  readonly from: Date | string | number;
  /** The time of the newest row. Default now. */
  readonly to?: Date | string | number;
  /**
   * The tables that have IDs of this layout, or get them: each is searched for IDs that the backfill could repeat. An
   * empty list says that none has any.
   */
  readonly tables: readonly (string | BackfillTable)[];
  /** How far ahead of a row's time its ID may lie where more rows have that time than a tick has IDs, ms. Default 60,000. */
  readonly maxAheadMs?: number;
}

type Resolved = ResolvedSnowflakeOptions & ReadOptions<typeof backfillOptions> & { readonly hasAhead: boolean };

/**
 * Reserves a stretch of the past on a worker row that has issued nothing there, and returns what issues IDs at its
 * times. Services go on meanwhile, and may start and end as they like; the row is free again when this settles. Nothing
 * has to be closed.
 *
 * Each call reserves another row or lane, so two jobs can run at once. With `commitLossWindowMs` it lasts that long.
 * @param database the application's, where the options name no `dbConfig`
 * @throws ConfigurationError naming every option that is wrong; NoRowForPastError; PastOccupiedError; LayoutConflictError;
 * what a start of a service throws
 */
export async function openBackfill(options: BackfillOptions, database?: SqlDatabase): Promise<PastIds> {
  if (typeof options === 'object' && options !== null && isSegmentMode(options)) {
    const message = `makes numbers, which have no time: a backfill needs idMode 'snowflake'`;
    throw new ConfigurationError([{ option: 'idMode', given: 'numberSection', message }]);
  }
  const resolved = resolveSnowflakeOptions(options, wallClock.now(), (reader) => ({
    ...readOptions(reader, backfillOptions),
    hasAhead: reader.value('maxAheadMs') !== undefined,
  }));
  refuseUnreserved(resolved);
  const tables = idTablesOf(resolved, database);
  try {
    await tables?.check();
    for (let tries = 1; ; tries++) {
      const ids = await reserve(resolved, database);
      try {
        await tables?.refuseOccupied(ids);
        return ids;
      } catch (error) {
        if (!(error instanceof PastOccupiedError) || tries === MOST_ROWS) throw error;
      }
    }
  } finally {
    await tables?.close();
  }
}

/** @throws ConfigurationError where others may issue with a worker id without writing its row before */
function refuseUnreserved(resolved: Resolved): void {
  const refuse = (name: string, given: string, message: string): never => {
    throw new ConfigurationError([{ option: name, given, message }]);
  };
  if (resolved.idSource !== undefined) {
    refuse('idSource', '(hidden)', 'issues no IDs of the past: give the options of the service that it asks');
  }
  reservingOf(resolved, 'reserves nothing in rows, so nothing tells which times a worker id has issued at');
  if (resolved.lease.sharedWithOriginal) {
    refuse('sharedWithOriginal', 'true', 'does not go with a backfill: programs of the original know no odometers');
  }
}

function reserve(resolved: Resolved, database: SqlDatabase | undefined): Promise<PastIds> {
  const ports = systemPorts('exact');
  const open = (): WorkerStore => {
    const use = reservingOf(resolved, 'reserves nothing in rows');
    return openReservingStore(use, { options: resolved, ports, database, warn: () => undefined });
  };
  const { withLayout } = resolved;
  if (withLayout === undefined) return reserveWith(resolved, ports, open(), false);
  return withFoundLayout(
    async () => {
      const session = new StoreSession(open(), ports.timers, resolved.lease.opTimeoutMs);
      try {
        return await findLayout({ session, options: resolved.lease, ports, first: DEFAULT_LAYOUT });
      } finally {
        await session.close();
      }
    },
    ({ layout, isFirst }) => reserveWith(withLayout(layout) as Resolved, ports, open(), isFirst),
    ports,
  );
}

/** Reserves with a layout, and closes the store. */
async function reserveWith(
  options: Resolved,
  ports: LeasePorts,
  store: WorkerStore,
  isFirstLayout: boolean,
): Promise<PastIds> {
  const { layout, lease, assigner, from, to, generator, hasAhead } = options;
  const session = new StoreSession(store, ports.timers, lease.opTimeoutMs);
  try {
    const context = {
      isFirstLayout,
      options: lease,
      session,
      ports,
      resolved: { ...layout, workers: assigner.parts.at(-1)!.workers },
      identity: workerIdentity({ ...options, ...lease, unitMs: layout.layout.unitMs }),
      past: { fromMs: from!, toMs: to ?? ports.clock.refresh() },
    };
    return await reservePast(context, hasAhead ? generator.maxAheadMs : MAX_AHEAD_MS);
  } finally {
    await session.close();
  }
}

/** @returns undefined where no table has IDs. @throws ConfigurationError without a database to search in */
function idTablesOf(resolved: Resolved, given: SqlDatabase | undefined): IdTables | undefined {
  const { dbConfig, tables, lease } = resolved;
  if (tables.length === 0) return undefined;
  const refuse = (message: string): never => {
    throw new ConfigurationError([{ option: 'tables', given: `${tables.length} tables`, message }]);
  };
  if (dbConfig === undefined && given === undefined) {
    refuse('need a database to be searched in: give it as the second argument, dataSourceDatabase(...) for example');
  }
  const database = databaseOf(resolved, given);
  if (database === undefined) return refuse('cannot be searched in a database in memory: give an empty list');
  return new IdTables(database, tables, lease.opTimeoutMs);
}

function readTime(reader: OptionReader, name: string): number | undefined {
  const given = reader.value(name);
  if (given === undefined && name === 'to') return undefined;
  const ms = parseEpoch(given);
  if (ms === undefined) {
    const legal = `a Date, an ISO string such as '2016-04-01' or Unix ms`;
    reader.problem(
      name,
      given,
      given === undefined ? `is required, the time of the oldest row: ${legal}` : `must be ${legal}`,
    );
  }
  return ms;
}

const COLUMN = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function readTables(reader: OptionReader, name: string): readonly IdColumn[] {
  const given = reader.value(name);
  const legal = `the tables that have IDs of this layout, or get them, such as ['orders', { table: 'shop.users', column: 'user_id' }]; [] says that none has any`;
  if (!Array.isArray(given)) {
    reader.problem(name, given, given === undefined ? `is required: ${legal}` : `must be ${legal}`);
    return [];
  }
  return (given as readonly unknown[]).flatMap((each) => {
    const { table, column = 'id' } = (
      typeof each === 'string' ? { table: each } : Object(each)
    ) as Partial<BackfillTable>;
    if (typeof table === 'string' && isTableName(table) && typeof column === 'string' && COLUMN.test(column)) {
      return [{ ...parseTableName(table), column }];
    }
    reader.problem(name, each, `must be ${legal}`);
    return [];
  });
}
