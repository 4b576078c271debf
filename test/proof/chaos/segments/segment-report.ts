import type { FiredFault } from '../chaos-options.js';
import type { ChaosTally } from '../chaos-tally.js';
import type { PlannedFault } from '../fault-plan.js';
import type { LedgerVerdict } from '../id-ledger.js';
import { countKinds, endOf, showCounts } from '../report-lines.js';
import { shown, type KeyVerdict } from './explain-losses.js';
import { sizeOf } from './intervals.js';
import type { LossKind } from './missing-numbers.js';
import { BROKEN, type Key } from './segment-messages.js';
import type { SegmentRunOptions } from './segment-options.js';

/** What a run over segments has found. */
export interface SegmentReport {
  readonly passed: boolean;
  /** Why it did not pass, in words. */
  readonly failures: readonly string[];
  readonly control: boolean;
  /** The commit whose release every second process ran, if any. */
  readonly beside?: string | undefined;
  readonly db: string;
  readonly seed: number;
  readonly seconds: number;
  readonly numbers: number;
  readonly duplicates: number;
  /** Numbers up to the rows' last that no process issued. */
  readonly lost: number;
  readonly lostBy: Readonly<Partial<Record<LossKind, number>>>;
  readonly unexplained: number;
  readonly fired: Readonly<Record<string, number>>;
  readonly planned: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly starts: number;
  readonly reservations: number;
  /** What the control found for each broken safeguard. */
  readonly found: Readonly<Record<string, number>>;
  readonly unexpected: readonly string[];
}

export interface SegmentFindings {
  readonly plan: readonly PlannedFault[];
  readonly tally: ChaosTally;
  readonly ledgers: Readonly<Record<Key, LedgerVerdict>>;
  readonly verdicts: readonly KeyVerdict[];
  readonly reservations: number;
  /** Numbers that the control lost on purpose. */
  readonly dropped: number;
}

/** Faults that put the same to the test: few of each are made in a short run. */
const FAULT_FAMILIES: Readonly<Record<string, readonly FiredFault[]>> = {
  'kill -9': ['kill'],
  pauses: ['pause'],
  'requests cut or delayed': ['refused', 'halfOpen', 'delayed', 'cutBefore'],
  'ambiguous requests': ['unanswered', 'late'],
  'kills of the database': ['databaseKill'],
  'busy databases': ['lock'],
  'losses of Redis': ['redisKill', 'redisFlush', 'redisSnapshot'],
  'requests to Redis cut, delayed or ambiguous': [
    ...(['redisRefused', 'redisHalfOpen', 'redisDelayed', 'redisUnanswered'] as const),
  ],
};

export function makeSegmentReport(options: SegmentRunOptions, findings: SegmentFindings): SegmentReport {
  const { tally, ledgers, verdicts, plan, reservations } = findings;
  const all = Object.values(ledgers);
  const duplicates = all.reduce((sum, ledger) => sum + ledger.duplicates, 0);
  const found = options.control ? foundByControl(findings) : {};
  const failures = options.control ? missedByControl(findings, found) : failuresOf(options, findings);
  const lostBy: Partial<Record<LossKind, number>> = {};
  for (const { lost } of verdicts) {
    for (const [kind, count] of Object.entries(lost) as [LossKind, number][])
      lostBy[kind] = (lostBy[kind] ?? 0) + count;
  }
  const { db, seed, seconds, control, beside } = options;
  const { fired, refusals, starts, unexpected } = tally;
  return {
    passed: failures.length === 0,
    failures,
    control,
    beside,
    db,
    seed,
    seconds,
    numbers: all.reduce((sum, { ids }) => sum + ids, 0),
    duplicates,
    lost: verdicts.reduce((sum, { reserved, issued }) => sum + Math.max(0, reserved - issued), 0),
    lostBy,
    unexplained: verdicts.reduce((sum, verdict) => sum + sizeOf(verdict.unexplained), 0),
    fired,
    planned: countKinds(plan),
    refusals,
    starts,
    reservations,
    found,
    unexpected,
  };
}

function failuresOf(options: SegmentRunOptions, findings: SegmentFindings): string[] {
  const { tally, plan, verdicts, ledgers } = findings;
  const failures = verdicts.flatMap(failuresOfKey);
  for (const [key, { duplicates }] of Object.entries(ledgers)) {
    if (duplicates > 0) failures.push(`${duplicates} numbers of ${key} were issued twice`);
  }
  const numbers = Object.values(ledgers).reduce((sum, { ids }) => sum + ids, 0);
  if (numbers < options.minNumbers) failures.push(`only ${numbers} numbers, ${options.minNumbers} wanted`);
  if (tally.unexpected.length > 0) failures.push(`${tally.unexpected.length} unexpected events`);
  failures.push(...missedFloors(options, countKinds(plan), tally.fired));
  return failures;
}

type Counts = Partial<Readonly<Record<FiredFault, number>>>;

/** The process that a fault is meant for may be gone; in all, a third must have happened. */
function missedFloors({ floors }: SegmentRunOptions, planned: Counts, fired: Counts): string[] {
  const missed = (what: string, wanted: number, count: number): string[] =>
    count < wanted ? [`${what} fired ${count} times, ${wanted} wanted`] : [];
  const sum = (kinds: readonly FiredFault[], of: Counts): number =>
    kinds.reduce((total, kind) => total + (of[kind] ?? 0), 0);
  return [
    ...Object.entries(FAULT_FAMILIES).flatMap(([family, kinds]) =>
      missed(family, Math.ceil(sum(kinds, planned) / 3), sum(kinds, fired)),
    ),
    ...(Object.entries(floors) as [FiredFault, number][]).flatMap(([kind, floor]) =>
      missed(kind, floor, fired[kind] ?? 0),
    ),
  ];
}

function failuresOfKey({ key, unexplained, contradictions }: KeyVerdict): string[] {
  const failures = contradictions.slice(0, 5).map((each) => `${key}: ${each}`);
  if (unexplained.length > 0) {
    failures.push(`${key}: ${sizeOf(unexplained)} numbers are lost without a reason: ${shown(unexplained)}`);
  }
  return failures;
}

/** What each broken safeguard has cost, by its name. */
function foundByControl({ ledgers, verdicts }: SegmentFindings): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [key, fault] of Object.entries(BROKEN) as [Key, string][]) {
    const silent = sizeOf(verdicts.find((verdict) => verdict.key === key)!.unexplained);
    found[fault] = (found[fault] ?? 0) + (fault === 'dropped' ? silent : ledgers[key].duplicates);
  }
  return found;
}

function missedByControl(findings: SegmentFindings, found: Readonly<Record<string, number>>): string[] {
  const { ledgers, verdicts, dropped } = findings;
  const failures = Object.entries(found)
    .filter(([, count]) => count === 0)
    .map(([fault]) => `the control found nothing of ${fault}: this run can prove nothing`);
  if (found['dropped']! > dropped) failures.push(`${found['dropped']} numbers of credit lost, ${dropped} on purpose`);
  // What is not broken stays whole beside it.
  for (const verdict of verdicts) {
    const fault = BROKEN[verdict.key as Key];
    if (fault === undefined) failures.push(...failuresOfKey(verdict));
    if (fault !== undefined && fault !== 'dropped') continue;
    const { duplicates } = ledgers[verdict.key as Key];
    if (duplicates > 0) failures.push(`${duplicates} numbers of ${verdict.key} were issued twice`);
  }
  return failures;
}

/** For people. */
export function summariseSegments(report: SegmentReport): string {
  const { control, beside, db, seconds, seed, numbers, duplicates, lost, unexplained, starts, reservations } = report;
  const share = ((100 * lost) / Math.max(1, lost + numbers)).toFixed(1);
  return [
    `Segments${control ? ', safeguards left out (control),' : ''}${beside === undefined ? '' : ` beside ${beside}`} on ${db}, ${seconds} s, seed ${seed}`,
    `  ${numbers} numbers from ${reservations} reservations, ${duplicates} of them twice; ${starts} process starts`,
    `  lost:     ${lost} (${share}%), ${unexplained} without a reason: ${showCounts(report.lostBy)}`,
    `  fired:    ${showCounts(report.fired)}`,
    `  refused:  ${showCounts(report.refusals)}`,
    ...(control ? [`  found:    ${showCounts(report.found)}`] : []),
    ...endOf(report),
  ].join('\n');
}
