import type { Layout } from '@raindrop/core';
import type { ChaosOptions, FiredFault } from './chaos-options.js';
import type { ChaosTally } from './chaos-tally.js';
import type { PlannedFault } from './fault-plan.js';
import type { LedgerVerdict, RepeatedId } from './id-ledger.js';
import { countKinds, endOf, showCounts } from './report-lines.js';

/** What a run has found. */
export interface ChaosReport {
  readonly passed: boolean;
  /** Why it did not pass, in words. */
  readonly failures: readonly string[];
  readonly control: boolean;
  /** The commit whose release every second process ran, if any. */
  readonly beside?: string | undefined;
  readonly db: string;
  readonly unit: string;
  readonly seed: number;
  readonly seconds: number;
  readonly ids: number;
  readonly duplicates: number;
  readonly fired: Readonly<Record<string, number>>;
  readonly planned: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly startRefusals: Readonly<Record<string, number>>;
  readonly starts: number;
  readonly tenures: number;
  /** Stretches of the past that processes have reserved. */
  readonly backfills: number;
  readonly unexpected: readonly string[];
  readonly examples: readonly string[];
}

/** Where nothing else is asked for, a kind must have fired in this part of its attempts, if there were enough of them. */
const USUAL_FLOOR = 1 / 3;
const ENOUGH = 6;

export function makeReport(
  options: ChaosOptions,
  plan: readonly PlannedFault[],
  tally: ChaosTally,
  { ids, duplicates, examples, impossible }: LedgerVerdict,
  layout: Layout,
): ChaosReport {
  const planned = countKinds(plan);
  const failures: string[] = [];
  if (options.control) {
    if (duplicates === 0) failures.push('the control has repeated no ID: this run can prove nothing');
  } else {
    if (duplicates > 0) failures.push(`${duplicates} IDs were returned twice`);
    if (impossible > 0) failures.push(`${impossible} IDs are 0 or negative`);
    if (tally.unexpected.length > 0) failures.push(`${tally.unexpected.length} unexpected events`);
    if (ids < options.minIds) failures.push(`only ${ids} IDs, ${options.minIds} wanted`);
    failures.push(...missedFloors(options, planned, tally));
  }
  const { db, unit, seed, seconds, control, beside } = options;
  const { fired, refusals, startRefusals, starts, tenures, backfills, unexpected } = tally;
  return {
    passed: failures.length === 0,
    failures,
    control,
    beside,
    db,
    unit,
    seed,
    seconds,
    ids,
    duplicates,
    fired,
    planned,
    refusals,
    startRefusals,
    starts,
    tenures,
    backfills,
    unexpected,
    examples: examples.map((each) => describeRepeated(each, layout)),
  };
}

function missedFloors(
  { floors }: ChaosOptions,
  planned: Partial<Record<FiredFault, number>>,
  { fired }: ChaosTally,
): string[] {
  const wanted: Partial<Record<FiredFault, number>> = { ...floors };
  for (const [kind, times] of Object.entries(planned) as [FiredFault, number][]) {
    if (times >= ENOUGH && kind !== 'release') wanted[kind] ??= Math.floor(times * USUAL_FLOOR);
  }
  return (Object.entries(wanted) as [FiredFault, number][])
    .filter(([kind, floor]) => (fired[kind] ?? 0) < floor)
    .map(([kind, floor]) => `${kind} fired ${fired[kind] ?? 0} times, ${floor} wanted`);
}

function describeRepeated({ id, code, origins }: RepeatedId, layout: Layout): string {
  const { tick, workerId, clockBack, sequence } = layout.unpack(id);
  const time = new Date(layout.timeline.startOf(tick)).toISOString();
  const from = origins.map(({ process, position }) => `process ${process} as no. ${position}`).join(' and ');
  return `${id} (${code}; ${time}, worker ${workerId}, lane ${clockBack}, sequence ${sequence}) from ${from}`;
}

/** For people. */
export function summarise(report: ChaosReport): string {
  const { db, unit, seed, seconds, ids, duplicates, starts, tenures } = report;
  const beside = report.beside === undefined ? '' : ` beside ${report.beside}`;
  const control = db === 'redis' ? 'Raindrop that waits after no loss' : 'the original protocol';
  return [
    `${report.control ? `Control: ${control}` : 'Raindrop'}${beside} on ${db}, ${unit} units, ${seconds} s, seed ${seed}`,
    `  ${ids} IDs, ${duplicates} of them twice; ${starts} process starts, ${tenures} tenures, ${report.backfills} backfills`,
    `  fired:    ${showCounts(report.fired)}`,
    `  refused:  ${showCounts(report.refusals)}; starts: ${showCounts(report.startRefusals)}`,
    ...report.examples.map((each) => `  twice:    ${each}`),
    ...endOf(report),
  ].join('\n');
}
