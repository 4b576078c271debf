import { setTimeout } from 'node:timers/promises';
import { type FenceStatements, fenceWorkers, type WorkerState, type WorkerView } from '@raindrop/node';
import { InputError } from '../input-error.js';
import type { CliOutput, Style } from '../io/cli-output.js';
import { showDuration, textTable } from '../io/text.js';
import { type FlagValues, moduleOptions } from '../options/module-options.js';
import { timeOf } from '../options/oldest-row.js';
import { explainMissingTable, withExistingFile, resolveWorkers, viewWorkers } from '../service/open-workers.js';

const COLOURS: Readonly<Record<WorkerState, Style>> = {
  held: 'green',
  free: 'dim',
  expired: 'yellow',
  foreign: 'magenta',
  'used-up': 'red',
  deleted: 'dim',
  database: 'green',
};

const WATCH_SECONDS = { usual: 2, least: 1, most: 3_600 };

/**
 * `raindrop workers`: shows which process holds which worker id; with `--watch` again and again, until a signal ends
 * it.
 */
export async function workers(flags: FlagValues, output: CliOutput): Promise<void> {
  const everyMs = watchMsOf(flags['watch']);
  await show(flags, output);
  while (everyMs !== undefined) {
    // The signal ends the wait at once: there is no worker id to give back.
    await setTimeout(everyMs, undefined, { signal: output.interruption.signal });
    await output.clear();
    await show(flags, output);
  }
}

async function show(flags: FlagValues, output: CliOutput): Promise<void> {
  const given = moduleOptions(flags);
  const resolved = resolveWorkers(given);
  const { nowMs, workers: all } = await viewWorkers(given, resolved);
  const shown =
    flags['all'] === true ? all : all.filter(({ state, heartbeat }) => state !== 'free' || heartbeat !== null);
  const counts = countsOf(all);
  await output.result({ table: resolved.tableName, nowMs, counts, workers: shown }, () => [
    ...linesOf(shown, output),
    summaryOf(counts, all.length - shown.length),
  ]);
}

function linesOf(rows: readonly WorkerView[], output: CliOutput): string[] {
  if (rows.length === 0) return [];
  const head = ['id', 'state', 'lease left', 'lane', 'odometer 0', 'odometer 1', 'holder'];
  const lines = textTable([
    head,
    ...rows.map(({ workerId, state, leaseLeftMs, lane, odometers, holder }) => [
      ...[String(workerId), state, leaseLeftMs === null ? '' : showDuration(leaseLeftMs), String(lane)],
      ...odometers.map(({ time }) => time?.toISOString() ?? '-'),
      holder,
    ]),
  ]);
  // A line is aligned before it is coloured: escape codes have no width.
  return lines.map((line, index) => {
    if (index === 0) return output.styled('bold', line);
    const { state } = rows[index - 1]!;
    return line.replace(state, output.styled(COLOURS[state], state));
  });
}

function watchMsOf(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const { usual, least, most } = WATCH_SECONDS;
  const seconds = given === true ? usual : Number(given);
  if (seconds >= least && seconds <= most) return seconds * 1_000;
  throw new InputError(`--watch ${seconds} must be a number of seconds from ${least} to ${most}`);
}

function summaryOf(counts: Readonly<Record<WorkerState, number>>, hidden: number): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  const text = parts.map(([state, count]) => `${count} ${state}`).join(', ') || 'no rows: run raindrop init';
  return hidden > 0 ? `${text} (${hidden} never used, not shown: --all)` : text;
}

/** Counts the rows in each state. */
function countsOf(workers: readonly WorkerView[]): Record<WorkerState, number> {
  const counts = { held: 0, free: 0, expired: 0, foreign: 0, 'used-up': 0, deleted: 0, database: 0 };
  for (const { state } of workers) counts[state]++;
  return counts;
}

/**
 * `raindrop fence`: makes a table safe that was restored from a backup. Without `--yes` it says what it would do. Both
 * ways it shows the clocks, by which an operator sees whether the fence is right.
 */
export async function fence(flags: FlagValues, output: CliOutput): Promise<void> {
  const given = moduleOptions(flags);
  const options = resolveWorkers(given);
  const statements = statementsOf(flags);
  const { maxClockSkewMs, horizonMs } = options.lease;
  if (flags['yes'] !== true) {
    const { workers, nowMs } = await viewWorkers(given, options);
    const { held, foreign } = countsOf(workers);
    throw new InputError(
      `fence would free all ${workers.length - foreign} rows of ${options.tableName}, ${held} of them held, and block them ` +
        `for ${showDuration(horizonMs + 3 * maxClockSkewMs)} at least: no process issues IDs until then.${foreign === 0 ? '' : ` ${othersOf(foreign).trim()}`}`,
      [
        `Is this the time? ${clocksOf(nowMs, Date.now())}`,
        'Fence once more with the options of every other layout that has served since the backup.',
        'To do it, add --yes.',
      ],
    );
  }
  const fenced = await explainMissingTable(options, fenceWorkers(withExistingFile(given), undefined, statements));
  const { rows, foreign, barredMs, nowMs, hostNowMs } = fenced;
  if (foreign !== 0 && !output.isJson) output.note(othersOf(foreign).trim());
  await output.result({ table: options.tableName, rows, foreign, barredMs, nowMs, hostNowMs }, () => [
    `${rows} rows of ${options.tableName} freed; none can be acquired for ${showDuration(barredMs)}`,
    ...(nowMs === null ? [] : [clocksOf(nowMs, hostNowMs)]),
  ]);
}

function statementsOf(flags: FlagValues): FenceStatements {
  const until = flags['issuedUntil'] as string | undefined;
  return {
    onlyThisLayout: flags['onlyThisLayout'] === true,
    ...(until !== undefined && { issuedUntil: new Date(timeOf('--issued-until', until)) }),
  };
}

function clocksOf(nowMs: number, hostNowMs: number): string {
  return `clock of the database ${new Date(nowMs).toISOString()}, of this host ${new Date(hostNowMs).toISOString()}`;
}

/** The warning about rows that a fence does not stop. */
function othersOf(foreign: number | null): string {
  if (foreign === 0) return '';
  const rows = foreign === null ? 'Rows that cannot be read' : `${foreign} rows`;
  return `${rows} may belong to programs other than Raindrop. A fence does not stop them: end them first. `;
}
