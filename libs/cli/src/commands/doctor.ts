import type { SnowflakeModuleOptions } from '@raindrop/node';
import { type Examination, examine } from '../doctor/examine.js';
import { withApp } from '../doctor/check-app.js';
import type { Finding } from '../doctor/checks.js';
import { EXIT_CODES, type ExitCode } from '../input-error.js';
import type { CliOutput, Style } from '../io/cli-output.js';
import { layoutToRead, moduleOptions, namesLayout, type FlagValues } from '../options/module-options.js';
import { withExistingFile, requireRows, resolveWorkers, withWorkers } from '../service/open-workers.js';

const COLOURS: Readonly<Record<Finding['state'], Style>> = { ok: 'green', warn: 'yellow', fail: 'red' };

/** `raindrop doctor`: finds what keeps a service from working, or may do so. */
export async function doctor(flags: FlagValues, output: CliOutput): Promise<ExitCode> {
  const given = withExistingFile(moduleOptions(flags));
  const app = flags['app'] as string | undefined;
  const found = app === undefined ? (await examineTable(given)).findings : await examineBoth(given, app);
  const findings = found.map((each) => ({
    ...each,
    detail: output.inNamesGiven(each.detail),
    ...(each.remedy !== undefined && { remedy: output.inNamesGiven(each.remedy) }),
  }));
  const worst = (['fail', 'warn'] as const).find((state) => findings.some((each) => each.state === state)) ?? 'ok';
  await output.result({ state: worst, findings }, () => findings.flatMap((each) => linesOf(each, output)));
  return worst === 'ok' ? EXIT_CODES.done : worst === 'warn' ? EXIT_CODES.warnings : EXIT_CODES.failed;
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
