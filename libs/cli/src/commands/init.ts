import type { WorkerStore } from '@raindrop/core';
import { workerRowsSql } from '@raindrop/node/internal';
import { workerTableSql, type SqlDatabase, type SupportedDatabase } from '@raindrop/node';
import type { CliOutput } from '../io/cli-output.js';
import { moduleOptions, type FlagValues } from '../options/module-options.js';
import { requireRows } from '../service/assigners.js';
import { resolveWorkers, withWorkers } from '../service/open-workers.js';

/** `raindrop init`: the worker table with the rows of this service's range, or the SQL for them. */
export async function init(flags: FlagValues, output: CliOutput): Promise<void> {
  const options = { ...resolveWorkers(moduleOptions(flags), true), autoCreateTable: true };
  requireRows('init', options);
  const { workers } = options.layout;
  const { tableName } = options;
  if (flags['dryRun'] === true) {
    const { type, schema } = options.dbConfig as SqlDatabase & { readonly type: SupportedDatabase };
    const place = schema === undefined || tableName.includes('.') ? tableName : `${schema}.${tableName}`;
    const statements = [...workerTableSql(type, place), ...workerRowsSql(type, place, workers)];
    await output.result({ table: tableName, workers, statements }, () => statements.map((each) => `${each};`));
    return;
  }
  const prepared = async (store: WorkerStore): Promise<number> => {
    await store.prepare(workers);
    const table = await store.readTable();
    return table.rows.filter(({ id }) => id >= workers.min && id <= workers.max).length;
  };
  // As a lease keeper does: creating and filling takes its time.
  const rows = await withWorkers(options, prepared, 10 * options.lease.opTimeoutMs);
  await output.result({ table: tableName, workers, rows }, () => [
    `${tableName} is ready: ${rows} rows for workers ${workers.min} to ${workers.max}`,
  ]);
}
