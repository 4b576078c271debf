import type { GaplessVerdict } from '../../proof/chaos/engines/engine-report.js';
import { readEngineResults, type EngineResult, type EngineResults } from '../../proof/chaos/engines/engine-results.js';
import type { Leg } from '../../proof/chaos/engines/leg.js';
import { LEGS } from '../../proof/chaos/engines/legs.js';

/** What an operator asks: what was run, and what it needs. */
const ENGINES = {
  place: /(<!-- engines -->\n)[^]*?(\n<!-- \/engines -->)/g,
  head: ['engine', 'version', 'topology', 'settings needed', 'longest refusal', 'not covered'],
  cells: (leg: Leg, { run }: EngineResults): string[] => [
    run?.versions ?? 'not run',
    leg.topology,
    leg.settings,
    run === undefined ? '' : `${(run.longestRefusalMs / 1_000).toFixed(1)} s`,
    leg.notCovered,
  ],
};

/** What a contributor asks: what a run has counted. */
const RUNS = {
  place: /(<!-- engine runs -->\n)[^]*?(\n<!-- \/engine runs -->)/g,
  head: [
    'engine',
    'faults',
    'IDs, numbers from segments, gapless rows',
    'duplicates',
    'duplicates of the control',
    'refusals',
  ],
  cells: (_: Leg, { run, control }: EngineResults): string[] => [
    ...(run === undefined ? ['', '', ''] : [countsOf(run.faults), issuedBy(run), repeatsOf(run)]),
    control === undefined ? '' : count(control.repeats),
    run === undefined ? '' : refusalsOf(run),
  ],
};

/** A Markdown text with its tables of engines made anew from what runs have recorded. */
export function withEngineTables(markdown: string): string {
  const results = readEngineResults();
  return [ENGINES, RUNS].reduce((text, { place, head, cells }) => {
    const line = (values: readonly string[]): string => `| ${values.join(' | ')} |`;
    const rows = Object.entries(LEGS).map(([name, leg]) => line([`\`${name}\``, ...cells(leg, results[name] ?? {})]));
    const table = [line(head), `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
    return text.replace(place, (_, begin: string, end: string) => `${begin}\n${table}\n${end}`);
  }, markdown);
}

function issuedBy({ ids, segmentNumbers, gapless }: EngineResult): string {
  return [ids, segmentNumbers, gapless?.rows ?? 0].map(count).join(' + ');
}

function repeatsOf({ repeats, segmentRepeats, gapless }: EngineResult): string {
  return [count(repeats + segmentRepeats + (gapless?.repeated ?? 0)), ...lostOf(gapless)].join('; ');
}

function lostOf(gapless: GaplessVerdict | undefined): string[] {
  return gapless === undefined || gapless.lost === 0 ? [] : [`${count(gapless.lost)} gapless rows lost`];
}

function refusalsOf({ refusals }: EngineResult): string {
  return count(Object.values(refusals).reduce((sum, each) => sum + each, 0));
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, times]) => `\`${name}\` ${times}`)
    .join(', ');
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
