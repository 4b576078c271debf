import { ConfigurationError, showValue } from '@raindrop/core';
import { sessionAgesOf, wallClock } from '@raindrop/core/internal';
import { parseTableName } from '../database/table-name.js';
import { refuseNonObject } from '../options/common-options.js';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { installSql, isFunctionName } from '../worker-table/database-ids.js';

/** The function of {@link databaseIdSql}. */
export interface DatabaseIdOptions {
  /**
   * `function` or `schema.function`, each of letters, digits and underscores, the function of at most 54. Default
   * `raindrop_id`. Without a schema it is that of `dbConfig`, else the first one of the search_path.
   */
  readonly name?: string;
  /** The worker id that is the database's for good. Default the highest one of the services' range. */
  readonly workerId?: number;
  /** The roles that may call the function, beside its owner; `public` for all. Default none. */
  readonly grantTo?: readonly string[];
}

/** The name of the function, where none is given. */
export const DEFAULT_NAME = 'raindrop_id';

/**
 * Returns one statement for PostgreSQL 15 and later. It installs a function without arguments that makes the IDs of rows
 * which no process of yours inserts: `id bigint PRIMARY KEY DEFAULT raindrop_id()`. The function never repeats an ID of its
 * own, nor one of a process: its worker id is the database's for good. Its IDs have the layout of the options, lane 0, and
 * sort among those of processes.
 *
 * The statement has to run in the database of the worker table, whose tables must exist. To run it again is harmless: it
 * renews the function, and grants its rights to more roles. It is refused, with SQLSTATE `RD002`, where a process holds the
 * worker id, or the table has served another layout and no process runs with this one.
 *
 * The function raises `RD001` where an ID can be had later: in the transaction that has installed it, while a fence bars
 * it, and where the server's clock is behind by more than 3 s. It raises `RD002` where its worker row is gone. When all IDs
 * of a tick are used up it goes on with the next ones, up to 3 s ahead of the clock. Then it waits from tick to tick, and
 * raises `RD001` when it has waited for more than 3 s.
 *
 * @param options the module's own: they name layout and worker table. Without a layout it is the default one
 * @throws ConfigurationError
 */
export function databaseIdSql(options: SnowflakeModuleOptions = {}, given: DatabaseIdOptions = {}): string {
  refuseNonObject('databaseIds', given, 'must be an object with the options');
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const { layout, workers } = resolved.layout;
  const { name = DEFAULT_NAME, workerId = workers.max, grantTo = [] } = given;
  if (typeof name !== 'string' || !isFunctionName(name)) {
    throw wrong(
      'name',
      name,
      "must be 'function' or 'schema.function', of letters, digits and underscores: 54 at most",
    );
  }
  if (!Number.isInteger(workerId) || workerId < 0 || workerId > layout.maxWorkerId) {
    throw wrong('workerId', workerId, `must be an integer from 0 to ${layout.maxWorkerId}`);
  }
  const isRole = (role: unknown): boolean => typeof role === 'string' && role !== '' && !role.includes('\0');
  if (!Array.isArray(grantTo) || !grantTo.every(isRole)) {
    throw wrong('grantTo', grantTo, "must be an array of roles, such as ['app']");
  }
  const schema = resolved.dbConfig?.schema;
  return installSql({
    layout,
    workerId,
    table: parseTableName(resolved.tableName, schema),
    name: parseTableName(name, schema),
    grantTo,
    graceMs: resolved.lease.graceMs,
    reachMs: sessionAgesOf(resolved.lease).reachMs,
    adoptForeign: resolved.lease.adoptForeign || resolved.lease.sharedWithOriginal,
  });
}

function wrong(option: string, given: unknown, message: string): ConfigurationError {
  return new ConfigurationError([{ option, given: showValue(given), message }]);
}
