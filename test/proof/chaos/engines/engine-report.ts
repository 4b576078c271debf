import type { ChaosTally } from '../chaos-tally.js';
import type { LedgerVerdict } from '../id-ledger.js';
import { endOf, showCounts } from '../report-lines.js';
import type { Family } from './engine.js';
import type { Leg } from './leg.js';

/** What became of gapless numbers. */
export interface GaplessVerdict {
  /** Rows at the end. */
  readonly rows: number;
  /** Rows whose number another one has. */
  readonly repeated: number;
  /** Numbers up to the last that no row has. */
  readonly gaps: number;
  /** Commits that were acknowledged and whose row is not there. */
  readonly lost: number;
}

/** What a run of an engine has found. */
export interface EngineReport {
  readonly passed: boolean;
  /** Why it did not pass, in words. */
  readonly failures: readonly string[];
  readonly engine: string;
  readonly family: Family;
  readonly versions: string;
  readonly date: string;
  readonly control: boolean;
  readonly seconds: number;
  readonly seed: number;
  /** What was done to the servers, by name. */
  readonly faults: Readonly<Record<string, number>>;
  /** What was done to the processes. */
  readonly fired: Readonly<Record<string, number>>;
  readonly ids: number;
  readonly repeats: number;
  readonly segmentNumbers: number;
  readonly segmentRepeats: number;
  readonly gapless: GaplessVerdict | undefined;
  readonly refusals: Readonly<Record<string, number>>;
  readonly startRefusals: Readonly<Record<string, number>>;
  readonly longestRefusalMs: number;
  readonly unexpected: readonly string[];
  readonly examples: readonly string[];
}

export interface Findings {
  readonly versions: string;
  readonly tally: ChaosTally;
  readonly faults: Readonly<Record<string, number>>;
  readonly leases: LedgerVerdict;
  readonly segments: LedgerVerdict;
  readonly gapless: GaplessVerdict | undefined;
}

export interface EngineRunOptions {
  readonly engine: string;
  readonly seconds: number;
  readonly seed: number;
  readonly control: boolean;
  /** Which faults, by name; all when left out. */
  readonly faults?: readonly string[];
  readonly minIds: number;
  readonly keep: boolean;
  readonly progress: (line: string) => void;
}

export function makeEngineReport(leg: Leg, options: EngineRunOptions, found: Findings): EngineReport {
  const { engine, seconds, seed, control } = options;
  const { versions, tally, faults, leases, segments, gapless } = found;
  const failures = control ? failuresOfControl(found) : failuresOf(leg, options, found);
  const { fired, refusals, startRefusals, unexpected } = tally;
  return {
    passed: failures.length === 0,
    failures,
    engine,
    family: leg.family,
    versions,
    control,
    seconds,
    seed,
    date: new Date().toISOString().slice(0, 10),
    faults,
    fired,
    ids: leases.ids,
    repeats: leases.duplicates,
    segmentNumbers: segments.ids,
    gapless,
    refusals,
    startRefusals,
    segmentRepeats: segments.duplicates,
    longestRefusalMs: Math.round(tally.longestRefusalMs),
    unexpected,
    examples: [...leases.examples, ...segments.examples].map(
      ({ id, code, origins }) =>
        `${id} (${code}) from ${origins.map(({ process, position }) => `${process} as no. ${position}`).join(' and ')}`,
    ),
  };
}

function failuresOfControl({ leases }: Findings): string[] {
  return leases.duplicates > 0 ? [] : ['the control has repeated no ID: this run can prove nothing'];
}

function failuresOf(
  { losesCommits }: Leg,
  { minIds }: EngineRunOptions,
  { tally, faults, leases, segments, gapless }: Findings,
): string[] {
  const missed = Object.entries(faults).filter(([, count]) => count === 0);
  const wrong: readonly (readonly [boolean, string])[] = [
    [leases.duplicates > 0, `${leases.duplicates} IDs were returned twice`],
    [segments.duplicates > 0, `${segments.duplicates} numbers from segments were returned twice`],
    [leases.impossible + segments.impossible > 0, 'there are IDs of 0 or less'],
    [tally.unexpected.length > 0, `${tally.unexpected.length} unexpected events`],
    [leases.ids < minIds, `only ${leases.ids} IDs, ${minIds} wanted`],
    [missed.length > 0, `never fired: ${missed.map(([name]) => name).join(', ')}`],
    [gapless === undefined || gapless.rows === 0, 'no gapless number was written'],
    [(gapless?.repeated ?? 0) > 0, `${gapless?.repeated} gapless numbers are in two rows`],
    [(gapless?.gaps ?? 0) > 0, `${gapless?.gaps} gapless numbers are in no row`],
    [!losesCommits && (gapless?.lost ?? 0) > 0, `${gapless?.lost} rows that were acknowledged are lost`],
  ];
  return wrong.flatMap(([is, what]) => (is ? [what] : []));
}

/** For people. */
export function summariseEngine(report: EngineReport): string {
  const { engine, versions, control, seconds, seed, ids, repeats, segmentNumbers, segmentRepeats, gapless } = report;
  const count = (value: number): string => value.toLocaleString('en-US');
  return [
    `${control ? 'Control on' : 'Raindrop on'} ${engine} (${versions}), ${seconds} s, seed ${seed}`,
    `  ${count(repeats)} of ${count(ids)} IDs twice; ${count(segmentRepeats)} of ${count(segmentNumbers)} numbers from segments`,
    gapless === undefined
      ? '  no gapless numbers'
      : `  gapless: ${count(gapless.rows)} rows, ${gapless.repeated} numbers twice, ${gapless.gaps} missing, ${gapless.lost} rows lost after they were acknowledged`,
    `  servers:  ${showCounts(report.faults)}`,
    `  processes: ${showCounts(report.fired)}`,
    `  refused:  ${showCounts(report.refusals)}; for ${(report.longestRefusalMs / 1_000).toFixed(1)} s at most; starts: ${showCounts(report.startRefusals)}`,
    ...report.examples.map((each) => `  twice:    ${each}`),
    ...endOf(report),
  ].join('\n');
}
