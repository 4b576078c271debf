import type { GaplessVerdict } from '../../proof/chaos/engines/engine-report.js';
import { readEngineResults, type EngineResult, type EngineResults } from '../../proof/chaos/engines/engine-results.js';
import type { Leg } from '../../proof/chaos/engines/leg.js';
import { LEGS } from '../../proof/chaos/engines/legs.js';

const TABLE = /(<!-- engines -->\n)[^]*?(\n<!-- \/engines -->)/g;

const HEAD = [
  '| engine | version run | topology | faults | IDs, numbers from segments, gapless rows | repeats | control | refusals | settings needed | not covered |',
  '|---|---|---|---|---|---|---|---|---|---|',
];

/** A Markdown text with its table of engines made anew from what runs have recorded. */
export function withEngineTable(markdown: string): string {
  return markdown.replace(TABLE, (_, begin: string, end: string) => {
    const results = readEngineResults();
    const rows = Object.entries(LEGS).map(([name, leg]) => row(name, leg, results[name] ?? {}));
    return [begin, ...HEAD, ...rows, end].join('\n').replace('\n\n\n', '\n\n');
  });
}

function row(name: string, { topology, settings, notCovered }: Leg, { run, control }: EngineResults): string {
  const cells = [`\`${name}\``, run?.versions ?? 'not run', topology, run === undefined ? '' : countsOf(run.faults)];
  cells.push(run === undefined ? '' : issuedBy(run), run === undefined ? '' : repeatsOf(run));
  cells.push(control === undefined ? '' : count(control.repeats), run === undefined ? '' : refusalsOf(run));
  return `| ${[...cells, settings, notCovered].join(' | ')} |`;
}

function issuedBy({ ids, segmentNumbers, gapless }: EngineResult): string {
  return [ids, segmentNumbers, gapless?.rows ?? 0].map(count).join(' + ');
}

function repeatsOf({ repeats, segmentRepeats, gapless }: EngineResult): string {
  return [count(repeats + segmentRepeats + (gapless?.repeated ?? 0)), ...lostOf(gapless)].join('; ');
}

function lostOf(gapless: GaplessVerdict | undefined): string[] {
  return gapless === undefined || gapless.lost === 0
    ? []
    : [`${count(gapless.lost)} gapless rows lost with their numbers`];
}

function refusalsOf({ refusals, longestRefusalMs }: EngineResult): string {
  const all = Object.values(refusals).reduce((sum, each) => sum + each, 0);
  return `${count(all)}; ${(longestRefusalMs / 1_000).toFixed(1)} s at most`;
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, times]) => `\`${name}\` ${times}`)
    .join(', ');
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
