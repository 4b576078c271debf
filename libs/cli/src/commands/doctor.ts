import { RaindropError } from '@raindrop/core';
import type { SnowflakeModuleOptions } from '@raindrop/node';
import { openWorkerStore, type ResolvedSnowflakeOptions, SqlWorkerStore } from '@raindrop/node/internal';
import { compareTables, type TableRead } from '../doctor/compare-tables.js';
import { type Examination, examine, remedyFor } from '../doctor/examine.js';
import { withApp } from '../doctor/check-app.js';
import { fail, type Finding } from '../doctor/checks.js';
import { EXIT_CODES, type ExitCode, InputError } from '../input-error.js';
import type { CliOutput, Style } from '../io/cli-output.js';
import { withoutSecrets } from '../io/text.js';
import { layoutToRead, moduleOptions, namesLayout, type FlagValues } from '../options/module-options.js';
import { withExistingFile, requireRows, resolveWorkers, withWorkers } from '../service/open-workers.js';

const COLOURS: Readonly<Record<Finding['state'], Style>> = { ok: 'green', warn: 'yellow', fail: 'red' };

/**
 * `raindrop doctor`: finds what keeps a service from working, or may do so. Of several URLs it tells whether their
 * worker tables can give the same ID.
 */
export async function doctor(flags: FlagValues, output: CliOutput): Promise<ExitCode> {
  const found = await findingsOf(flags);
  const findings = found.map((each) => ({
    ...each,
    detail: output.inNamesGiven(each.detail),
    ...(each.remedy !== undefined && { remedy: output.inNamesGiven(each.remedy) }),
  }));
  const worst = (['fail', 'warn'] as const).find((state) => findings.some((each) => each.state === state)) ?? 'ok';
  await output.result({ state: worst, findings }, () => findings.flatMap((each) => linesOf(each, output)));
  return worst === 'ok' ? EXIT_CODES.done : worst === 'warn' ? EXIT_CODES.warnings : EXIT_CODES.failed;
}

async function findingsOf(flags: FlagValues): Promise<Finding[]> {
  const [url, app] = [flags['url'] as string | readonly string[] | undefined, flags['app'] as string | undefined];
  if (Array.isArray(url)) {
    if (app !== undefined) throw new InputError('--app takes one --url: without it, several are compared');
    return compareDatabases(flags, url as readonly string[]);
  }
  const given = withExistingFile(moduleOptions(flags));
  return app === undefined ? (await examineTable(given)).findings : examineBoth(given, app);
}

/** Compares the worker tables at these URLs. Where one cannot be read, only that is found. */
async function compareDatabases(flags: FlagValues, urls: readonly string[]): Promise<Finding[]> {
  const tables: TableRead[] = [];
  const failures: Finding[] = [];
  for (const url of urls) {
    const given = withExistingFile(moduleOptions({ ...flags, url }));
    const name = withoutSecrets(url);
    const options = resolveWorkers(given, lastDayOf(given));
    requireRows('doctor', options);
    try {
      tables.push({
        name,
        ...(await readPlaced(options)),
        first: options.layout.layout,
        graceMs: options.lease.graceMs,
      });
    } catch (error) {
      if (!(error instanceof RaindropError)) throw error;
      failures.push(fail('database', `${name}: ${error.message}`, remedyFor(error)));
    }
  }
  return failures.length > 0 ? failures : compareTables(tables);
}

async function readPlaced(options: ResolvedSnowflakeOptions): Promise<Pick<TableRead, 'table' | 'whereabouts'>> {
  const store = openWorkerStore(options, undefined, Date.now, options.lease.opTimeoutMs);
  try {
    const table = await store.readTable();
    return { table, whereabouts: store instanceof SqlWorkerStore ? await store.whereabouts() : undefined };
  } finally {
    await store.close();
  }
}

/** Of the worker table. */
async function examineTable(given: SnowflakeModuleOptions): Promise<Examination> {
  const options = resolveWorkers(given, lastDayOf(given));
  requireRows('doctor', options);
  return withWorkers(options, (store) => examine(store, options));
}

/** Of the worker table, where the options name one, and of the application's databases. */
async function examineBoth(given: SnowflakeModuleOptions, path: string): Promise<Finding[]> {
  const namesTable = given.dbConfig !== undefined || given.workerIdAssigner !== undefined;
  return withApp(path, async (check) => {
    if (!namesTable) return check(namesLayout(given) ? layoutToRead(given) : undefined);
    const { findings, layout } = await examineTable(given);
    return [...findings, ...(await check(layout))];
  });
}

/**
 * The moment for which the options are checked. An expired layout is a finding, not a wrong option: then it is its last
 * ms.
 */
function lastDayOf(options: SnowflakeModuleOptions): number {
  const now = Date.now();
  const end = namesLayout(options) ? layoutToRead(options).expiresAt : null;
  return end === null || end.getTime() > now ? now : end.getTime() - 1;
}

function linesOf({ check, state, detail, remedy }: Finding, output: CliOutput): string[] {
  const line = `${output.styled(COLOURS[state], state.padEnd(4))}  ${check.padEnd(14)}  ${detail}`;
  return remedy === undefined ? [line] : [line, `      ${' '.repeat(14)}  -> ${remedy}`];
}
