import type { WorkerRange, WorkerStore } from '@raindrop/core';
import { chooseLayout, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import { workerRowsSql, type ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { workerTableSql, type SqlDatabase, type SupportedDatabase } from '@raindrop/node';
import type { CliOutput } from '../io/cli-output.js';
import { moduleOptions, type FlagValues } from '../options/module-options.js';
import { requireRows } from '../service/assigners.js';
import { resolveWorkers, withWorkers } from '../service/open-workers.js';
import { initProject } from './init-project.js';

interface Prepared {
  readonly workers: WorkerRange;
  readonly rows: number;
}

/** The tables alone. */
const NO_WORKERS: WorkerRange = { min: 1, max: 0 };

/**
 * `raindrop init`: with `--project` an application's files; else the worker table with the rows of this service's range,
 * or the SQL for them.
 */
export async function init(flags: FlagValues, output: CliOutput): Promise<void> {
  if (flags['project'] !== undefined) return initProject(flags, output);
  const options = { ...resolveWorkers(moduleOptions(flags)), autoCreateTable: true };
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
  const prepared = async (store: WorkerStore): Promise<Prepared> => {
    const range = await rangeOf(options, store);
    await store.prepare(range);
    const table = await store.readTable();
    return { workers: range, rows: table.rows.filter(({ id }) => id >= range.min && id <= range.max).length };
  };
  // As a lease keeper does: creating and filling takes its time.
  const found = await withWorkers(options, prepared, 10 * options.lease.opTimeoutMs);
  await output.result({ table: tableName, ...found }, () => [
    `${tableName} is ready: ${found.rows} rows for workers ${found.workers.min} to ${found.workers.max}`,
  ]);
}

/** Of options that name no layout, that of the one which the table remembers. */
async function rangeOf(
  { withLayout, layout, lease }: ResolvedSnowflakeOptions,
  store: WorkerStore,
): Promise<WorkerRange> {
  if (withLayout === undefined) return layout.workers;
  await store.prepare(NO_WORKERS);
  return withLayout(chooseLayout(await store.readTable(), DEFAULT_LAYOUT, lease).layout).layout.workers;
}
