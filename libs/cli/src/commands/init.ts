import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Layout, ResolvedLayout, WorkerRange, WorkerStore } from '@raindrop/core';
import { chooseLayout, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import { dialectOf, type ResolvedSnowflakeOptions, workerRowsSql } from '@raindrop/node/internal';
import { type InitPlan, planProject } from '@raindrop/node/nest-project';
import { type SnowflakeModuleOptions, type SqlDatabase, type SupportedDatabase, workerTableSql } from '@raindrop/node';
import type { CliOutput } from '../io/cli-output.js';
import { type FlagValues, moduleOptions, namesLayout } from '../options/module-options.js';
import { requireOldest } from '../options/oldest-row.js';
import { refuseFunctionFlags } from '../options/function-flags.js';
import {
  installFunction,
  issuingFunction,
  issuingFunctionOfFlags,
  type IssuingFunction,
  requireMakesIds,
} from '../service/database-ids.js';
import { requireRows, resolveWorkers, withWorkers } from '../service/open-workers.js';
import { CommandFailedError, InputError } from '../input-error.js';

interface Prepared {
  readonly layout: Layout;
  readonly workers: WorkerRange;
  readonly rows: number;
}

/** An empty range: only the tables are created. */
const NO_WORKERS: WorkerRange = { min: 1, max: 0 };

/**
 * `raindrop init`: creates the worker table with the rows of the service's range, or prints the SQL for it. With
 * `--database-ids` it installs a function of the database that makes IDs, with `--project` it writes an application's files.
 */
export async function init(flags: FlagValues, output: CliOutput): Promise<void> {
  if (flags['project'] !== undefined) return initProject(flags, output);
  if (flags['moduleOnly'] === true) throw new InputError('--module-only requires --project');
  const makesIds = flags['databaseIds'] === true;
  if (!makesIds) refuseFunctionFlags(flags, '--database-ids');
  const given = moduleOptions(flags);
  const options = { ...resolveWorkers(given), autoCreateTable: true };
  requireRows('init', options);
  const { workers } = options.layout;
  const { tableName } = options;
  if (makesIds) {
    requireMakesIds('--database-ids', dialectOf(options.dbConfig!.type));
    // Refuses a name or a role before there is a table. The range of a worker id may be that of the table's layout.
    issuingFunctionOfFlags(given, options, { ...flags, worker: undefined });
  }
  if (flags['dryRun'] === true) {
    requireOldest(options.layout.layout, flags);
    const { type, schema } = options.dbConfig as SqlDatabase & { readonly type: SupportedDatabase };
    const place = schema === undefined || tableName.includes('.') ? tableName : `${schema}.${tableName}`;
    const ofFunction = makesIds ? [issuingFunctionOfFlags(given, options, flags).sql] : [];
    const statements = [...workerTableSql(type, place), ...workerRowsSql(type, place, workers), ...ofFunction];
    await output.result({ table: tableName, workers, statements }, () => statements.map((each) => `${each};`));
    return;
  }
  const prepared = async (store: WorkerStore): Promise<Prepared> => {
    const { layout, workers: range } = await layoutOf(options, store);
    requireOldest(layout, flags);
    await store.prepare(range);
    const table = await store.readTable();
    return { layout, workers: range, rows: table.rows.filter(({ id }) => id >= range.min && id <= range.max).length };
  };
  // Creating and filling a table takes several statements: it gets the time of ten, as at the start of a service.
  const { layout, ...found } = await withWorkers(options, prepared, 10 * options.lease.opTimeoutMs);
  const named = namesLayout(given) ? given : { ...given, layout };
  const databaseIds = makesIds ? await installed(named, flags) : undefined;
  await output.result({ table: tableName, ...found, ...(databaseIds && { databaseIds }) }, () => [
    `${tableName} is ready: ${found.rows} rows for workers ${found.workers.min} to ${found.workers.max}`,
    ...(databaseIds === undefined ? [] : [lineOf(databaseIds)]),
  ]);
}

/** Installs a function that makes IDs, in the database of a worker table that is there. */
async function installed(options: SnowflakeModuleOptions, flags: FlagValues): Promise<Omit<IssuingFunction, 'sql'>> {
  const resolved = resolveWorkers(options);
  const { sql, ...made } = await issuingFunction(options, resolved, flags);
  await installFunction(resolved, sql);
  return made;
}

function lineOf({ function: call, workerId }: Omit<IssuingFunction, 'sql'>): string {
  return `${call} issues IDs of worker ${workerId}: ALTER TABLE orders ALTER COLUMN id SET DEFAULT ${call}`;
}

/** Layout and worker ids of the service. Where the options name no layout, the table says which one is in use. */
async function layoutOf(
  { withLayout, layout, lease }: ResolvedSnowflakeOptions,
  store: WorkerStore,
): Promise<ResolvedLayout> {
  if (withLayout === undefined) return layout;
  await store.prepare(NO_WORKERS);
  return withLayout(chooseLayout(await store.readTable(), DEFAULT_LAYOUT, lease).layout).layout;
}

/**
 * `raindrop init --project`: writes module, entity and migration into a Nest application, all of them or none; with
 * `--module-only` the module alone.
 */
async function initProject(flags: FlagValues, output: CliOutput): Promise<void> {
  const path = flags['project'] === true ? '.' : (flags['project'] as string);
  const isModuleOnly = flags['moduleOnly'] === true;
  const { folder, ...plan } = planProject({ path, url: flags['url'], isModuleOnly }, Date.now());
  const isDry = flags['dryRun'] === true;
  output.interruption.check();
  if (!isDry) await write(folder, plan);
  await output.result({ ...plan, written: !isDry }, () => (isDry ? textsOf(plan) : linesOf(plan)));
}

async function write(folder: string, { files, module }: InitPlan): Promise<void> {
  if (module === undefined) return;
  const written: string[] = [];
  try {
    for (const { file, text } of files) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { flag: 'wx' });
      written.push(path);
    }
    // The last step is a rename, which happens entirely or not at all.
    const path = join(folder, module.file);
    const beside = `${path}.raindrop`;
    await writeFile(beside, module.text, { flag: 'wx' });
    written.push(beside);
    await rename(beside, path);
  } catch (error) {
    await Promise.all(written.map((path) => rm(path, { force: true })));
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFailedError(`nothing was changed: ${code ?? message}`);
  }
}

function linesOf({ files, module, remaining }: InitPlan): string[] {
  if (module === undefined) return ['nothing was changed: the application already imports RaindropModule'];
  return [
    ...files.map(({ file }) => `created  ${file}`),
    `changed  ${module.file}`,
    ...remaining.map((each) => `next     ${each}`),
  ];
}

function textsOf({ files, module, remaining }: InitPlan): string[] {
  const all = [...files, ...(module === undefined ? [] : [module])];
  return [
    ...all.flatMap(({ file, text }) => [`// ${file}`, text]),
    ...remaining.map((each) => `// next: ${each}`),
    ...(module === undefined ? ['nothing to change: the application already imports RaindropModule'] : []),
  ];
}
