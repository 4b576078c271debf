import { type Layout, parseId, type ParsedId, type WorkerRow } from '@raindrop/core';
import {
  believedFromMs,
  chooseLayout,
  DEFAULT_LAYOUT,
  findIssuingLease,
  isOfDatabase,
  type IssuedPlace,
  PermanentError,
  wallClock,
} from '@raindrop/core/internal';
import { databaseOf } from '../database/application-database.js';
import { execute } from '../database/dialect.js';
import { OwnDatabase } from '../database/own-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { dialectOf } from '../database/supported-database.js';
import { parseTableName } from '../database/table-name.js';
import { type ResolvedSnowflakeOptions, resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { saysGone } from '../tables/prepare-table.js';
import {
  historyTableOf,
  type HistoryRow,
  readLease,
  selectLeases,
  WORKER_HISTORY_TABLE,
} from '../worker-table/worker-history.js';
import { AHEAD_MS } from '../worker-table/database-ids.js';
import { openWorkerStore } from './open-worker-store.js';

/** The process that issued an ID, and the time for which it held the worker id. */
export interface IdIssuer {
  /** The name of the service; `default` where it has none. */
  readonly service: string;
  /** '' with `hashCode`. */
  readonly host: string;
  /** The variable `POD_NAME` of the process; '' when it was not set, and with `hashCode`. */
  readonly pod: string;
  readonly pid: number;
  /** The code that the worker row stored: address, port, unit and hardware address, or a hash of them. */
  readonly code: string;
  /** When the worker id was acquired, and when it was given back, by the database's clock; null when no end is known. */
  readonly begun: Date;
  readonly ended: Date | null;
  /**
   * `held`: the process holds the worker id. `released`: it gave the id back. `lapsed`: its lease ran out, because it
   * crashed or was cut off.
   */
  readonly ending: 'held' | 'released' | 'lapsed';
}

/**
 * The finding about an ID.
 *
 * - `issued`: only this process can have issued it.
 * - `not-recorded`: another process may have issued it, whose lease was not recorded.
 * - `before-history`: the history of its worker id begins later.
 * - `never-issued`: its worker id was never granted so far.
 * - `other-layout`: its end bits are not those of the layout.
 * - `by-database`: a function in the database issued it, see `databaseIdSql()`. This is found without a history.
 */
export type IssuerFinding =
  'issued' | 'not-recorded' | 'before-history' | 'never-issued' | 'other-layout' | 'by-database';

/** The result of {@link readIssuer}. */
export interface IssuerView {
  readonly id: ParsedId;
  readonly finding: IssuerFinding;
  /** Null unless the finding is `issued`. */
  readonly issuer: IdIssuer | null;
  /** The function, such as `public.raindrop_id`. Null unless the finding is `by-database`. */
  readonly databaseFunction: string | null;
  /** When the first lease of this worker id began that is kept; null when none is. */
  readonly historyBegins: Date | null;
}

/** No table holds a worker history: no service has run with `workerHistory`. */
export class NoWorkerHistoryError extends PermanentError {
  static override readonly name = 'NoWorkerHistoryError';
  readonly errorCode = 'NO_WORKER_HISTORY';

  constructor(readonly table: string) {
    super(`There is no table ${table}: no service on this worker table has run with workerHistory: true.`);
  }
}

/**
 * Finds the process that issued an ID, from the table that services with `workerHistory` keep. It names a process only
 * when no other one can have issued the ID. It reads worker table and history once, on connections of its own, and
 * changes nothing.
 *
 * @param id of the layout of `options`, or, where they name none, of the layout that the worker table remembers
 * @param options the module's own; `workerHistory` itself is not needed
 * @param database the application's, where the options name no `dbConfig`
 * @throws InvalidIdError; ConfigurationError, also where worker ids do not come from a database; NoWorkerHistoryError;
 * UnclearLayoutError; DatabaseCallError when the database cannot be reached, or an answer takes longer than `opTimeoutMs`
 */
export async function readIssuer(
  id: bigint | string,
  options: SnowflakeModuleOptions,
  database?: SqlDatabase,
): Promise<IssuerView> {
  const [view] = await readIssuers([id], options, database);
  return view!;
}

/** The same for several IDs, in their order, with one look at the worker table. */
export async function readIssuers(
  ids: readonly (bigint | string)[],
  options: SnowflakeModuleOptions,
  database?: SqlDatabase,
): Promise<IssuerView[]> {
  const resolved = resolveSnowflakeOptions({ ...options, workerHistory: true }, wallClock.now());
  const store = openWorkerStore(resolved, database, () => wallClock.now(), resolved.lease.opTimeoutMs);
  try {
    const table = await store.readTable();
    const { rows, deleted, nowMs } = table;
    const lostUntilMs = believedFromMs(table);
    const { layout } =
      resolved.withLayout === undefined ? resolved.layout : chooseLayout(table, DEFAULT_LAYOUT, resolved.lease);
    const parsed = ids.map((id) => parseId(layout, id));
    const issuedByDatabase = (id: ParsedId): WorkerRow | undefined =>
      deleted.find((row) => isByDatabase(placeOf(id, layout), row, nowMs));
    const others = parsed.filter((id) => issuedByDatabase(id) === undefined);
    const histories = await readLeases(resolved, database, new Set(others.map(({ workerId }) => workerId)));
    return parsed.map((id) => {
      const ofDatabase = issuedByDatabase(id);
      if (ofDatabase !== undefined && id.endBits === layout.endBitsValue) {
        const databaseFunction = ofDatabase.holder;
        return { id, finding: 'by-database', issuer: null, databaseFunction, historyBegins: null };
      }
      const leases = histories.get(id.workerId)!;
      const begun = leases.map(({ begunMs }) => begunMs);
      const historyBegins = begun.length === 0 ? null : new Date(Math.min(...begun));
      if (id.endBits !== layout.endBitsValue) {
        return { id, finding: 'other-layout', issuer: null, databaseFunction: null, historyBegins };
      }
      const row = [...rows, ...deleted].find((each) => each.id === id.workerId);
      const found = findIssuingLease(placeOf(id, layout), leases, { row, nowMs, lostUntilMs });
      const issuer = found.kind === 'issued' ? issuerOf(found.lease, found.ending) : null;
      return { id, finding: found.kind, issuer, databaseFunction: null, historyBegins };
    });
  } finally {
    await store.close();
  }
}

/** Whether the row was the database's when the ID was issued. It had no IDs further ahead of its clock than that. */
function isByDatabase({ layout, workerId, lane, position }: IssuedPlace, row: WorkerRow, nowMs: number): boolean {
  const { timeline } = layout;
  const isIts = isOfDatabase(row) && row.id === workerId && row.layout === layout.fingerprint && lane === 0;
  // The heartbeat of such a row is the start of the function's first tick.
  return (
    isIts && position.tick >= timeline.tickAt(row.heartbeatMs) && timeline.startOf(position.tick) <= nowMs + AHEAD_MS
  );
}

function placeOf({ workerId, clockBack, tick, sequence }: ParsedId, layout: Layout): IssuedPlace {
  return { layout, workerId, lane: clockBack === 1 ? 1 : 0, position: { tick, sequence } };
}

function issuerOf(
  { service, host, pod, pid, code, begunMs, endedMs }: HistoryRow,
  ending: IdIssuer['ending'],
): IdIssuer {
  const ended = endedMs === undefined ? null : new Date(endedMs);
  return { service, host, pod, pid, code, begun: new Date(begunMs), ended, ending };
}

async function readLeases(
  options: ResolvedSnowflakeOptions,
  ofApplication: SqlDatabase | undefined,
  workerIds: ReadonlySet<number>,
): Promise<Map<number, HistoryRow[]>> {
  const database = databaseOf(options, ofApplication);
  const name = historyTableOf(parseTableName(options.tableName, database?.schema));
  if (database === undefined) throw new NoWorkerHistoryError(name.name);
  const dialect = dialectOf(database.type);
  const { opTimeoutMs } = options.lease;
  const own = new OwnDatabase(database, { opTimeoutMs, statementTimeoutMs: opTimeoutMs });
  try {
    const histories = new Map<number, HistoryRow[]>();
    for (const workerId of workerIds) {
      const statement = selectLeases({ kind: WORKER_HISTORY_TABLE, dialect, name }, workerId);
      const { records } = await own.call((run) => execute(run, statement));
      histories.set(
        workerId,
        records.map(readLease).filter((each) => each !== undefined),
      );
    }
    return histories;
  } catch (error) {
    if (saysGone(dialect, error)) throw new NoWorkerHistoryError(name.name);
    throw error;
  } finally {
    await own.close();
  }
}
