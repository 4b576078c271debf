import type { ChaosEvent } from '../chaos-tally.js';
import { difference, intersection, sizeOf, union, type Interval, type Intervals } from './intervals.js';
import { inferHistory } from './inferred-history.js';
import { Missing, type CallOf, type Held, type LossKind } from './missing-numbers.js';
import type { ProcessRecord, RecordedCall } from './process-record.js';
import { explainInRedis } from './redis-losses.js';
import type { RowHistory } from './row-history.js';
import { REDIS_KEYS, ROW_STEP } from './segment-messages.js';

export interface KeyVerdict {
  readonly key: string;
  readonly reserved: number;
  readonly issued: number;
  readonly lost: Readonly<Partial<Record<LossKind, number>>>;
  readonly unexplained: Intervals;
  /** What contradicts itself, in words. */
  readonly contradictions: readonly string[];
}

/**
 * Accounts for every number of a key up to the row's last: issued, or lost for a reason that the database's own history,
 * the processes' journals and the faults that were made bear out.
 */
export function explainLosses(
  key: string,
  { maxId, changes }: RowHistory,
  processes: readonly ProcessRecord[],
  events: readonly ChaosEvent[],
): KeyVerdict {
  const issuedBy = new Map(processes.map((process) => [process, process.issued(key)]));
  const issued = union([...issuedBy.values()].flatMap(({ runs }) => runs));
  const missing = new Missing(difference(union([{ first: 1, last: maxId }]), issued));
  const contradictions: string[] = [];
  const rows = callsOf(processes, key, 'row');
  const runs = callsOf(processes, key, 'run');

  const history = changes === undefined ? inferHistory(maxId, rows) : { maxId, changes };
  const total = changes?.reduce((sum, { before, after }) => sum + after - before, 0) ?? maxId;
  if (total !== maxId) contradictions.push(`the row says ${maxId}, its history ${total}`);
  const lostAnswers = unheardReservations(history, rows, contradictions);
  missing.explain('unanswered', lostAnswers);

  const held = heldRanges(history, runs);
  for (const process of processes) {
    const mine = held.filter((each) => each.process === process);
    const { highest, runs: mineIssued, increases } = issuedBy.get(process)!;
    if (!increases) contradictions.push(`process ${process.name} has issued numbers that do not increase`);
    const foreign = difference(mineIssued, union(mine));
    if (foreign.length > 0)
      contradictions.push(`process ${process.name} has issued ${shown(foreign)} without having them`);
    const above = intersection(union(mine), [{ first: highest + 1, last: Number.MAX_SAFE_INTEGER }]);
    missing.explain(process.wasKilled ? 'killed' : 'shutdown', above);
    const unused = mine.filter((each) => intersection([each], mineIssued).length === 0);
    missing.explain(
      'overtaken',
      unused.filter((each) => isOvertaken(each, mine)),
    );
  }
  if (REDIS_KEYS.includes(key)) {
    const clearedAt = key.includes('_') ? processes.flatMap((process) => process.clearedAt) : [];
    explainInRedis(missing, rows, runs, held, events, clearedAt);
  }
  return {
    key,
    reserved: maxId,
    issued: sizeOf(issued),
    lost: missing.explained,
    unexplained: missing.left,
    contradictions,
  };
}

function callsOf(processes: readonly ProcessRecord[], key: string, level: RecordedCall['level']): CallOf[] {
  return processes.flatMap((process) =>
    process.calls.filter((call) => call.key === key && call.level === level).map((call): CallOf => [process, call]),
  );
}

/**
 * What the database has reserved, and no process has heard of: each must be the work of a call of its own that asked for
 * so many numbers and got no answer.
 */
function unheardReservations(
  { changes }: Required<RowHistory>,
  rows: readonly CallOf[],
  contradictions: string[],
): Interval[] {
  const heard = new Counted(rows.flatMap(([, { segment }]) => (segment === undefined ? [] : [nameOf(segment)])));
  const reserved = changes.filter(({ before, after }) => after > before);
  const unheard = reserved
    .map(({ before, after }): Interval => ({ first: before + 1, last: after }))
    .filter((range) => !heard.take(nameOf(range)));
  for (const name of heard.left) contradictions.push(`a process was told ${name}, which the database never reserved`);
  const failed = rows.filter(([, { call, outcome }]) => call === 'reserve' && outcome !== 'reserved');
  const open = new Counted(failed.map(([, { count }]) => String(count ?? ROW_STEP)));
  return unheard.filter((range) => open.take(String(sizeOf([range]))));
}

/** What processes had, and still have: what is known to have gone back is not theirs any more. */
function heldRanges({ changes }: Required<RowHistory>, runs: readonly CallOf[]): Held[] {
  const returns = runs.filter(([, { call }]) => call === 'giveBack');
  const known = returns.filter(([, { outcome }]) => outcome === 'returned');
  const inDatabase = new Counted(
    changes
      .filter(({ before, after }) => after < before)
      .map(({ before, after }) => nameOf({ first: after + 1, last: before })),
  );
  for (const [, { unused }] of known) inDatabase.take(nameOf(unused!));
  // Executed without an answer.
  const silent = returns.filter(
    ([, { outcome, unused }]) => outcome !== 'returned' && outcome !== 'refused' && inDatabase.take(nameOf(unused!)),
  );
  const gone = [...known, ...silent];
  return runs.flatMap(([process, call]) => {
    if (call.segment === undefined) return [];
    const back = gone.filter(([giver]) => giver === process).map(([, { unused }]) => unused!);
    return difference([call.segment], union(back)).map((range) => ({ ...range, process, call }));
  });
}

/** Whether higher numbers had come before: a process goes upwards only, and drops what comes too late for that. */
function isOvertaken({ last, process, call }: Held, all: readonly Held[]): boolean {
  return all.some((other) => other.process === process && other.first > last && other.call.endedAt! <= call.endedAt!);
}

/** Names, each so often. */
class Counted {
  private readonly counts = new Map<string, number>();

  constructor(names: readonly string[]) {
    for (const name of names) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** Answers whether there was one. */
  take(name: string): boolean {
    const count = this.counts.get(name) ?? 0;
    if (count > 0) this.counts.set(name, count - 1);
    return count > 0;
  }

  get left(): string[] {
    return [...this.counts].filter(([, count]) => count > 0).map(([name]) => name);
  }
}

function nameOf({ first, last }: Interval): string {
  return `${first} to ${last}`;
}

/** For people; the first of them. */
export function shown(intervals: Intervals): string {
  const names = intervals
    .slice(0, 5)
    .map(({ first, last }) => (first === last ? String(first) : nameOf({ first, last })));
  return [...names, ...(intervals.length > 5 ? [`${intervals.length - 5} more`] : [])].join(', ');
}
