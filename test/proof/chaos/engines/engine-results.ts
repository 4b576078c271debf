import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineReport } from './engine-report.js';

const FILE = join(__dirname, 'engine-results.json');

/** What is kept of a run. */
export type EngineResult = Pick<
  EngineReport,
  'versions' | 'date' | 'seconds' | 'faults' | 'fired' | 'ids' | 'repeats' | 'segmentNumbers' | 'segmentRepeats'
> &
  Pick<EngineReport, 'gapless' | 'refusals' | 'longestRefusalMs'>;

/** The last run of an engine that passed, and that of its control. */
export interface EngineResults {
  readonly run?: EngineResult;
  readonly control?: EngineResult;
}

/** By the engine's name. */
export function readEngineResults(): Record<string, EngineResults> {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, EngineResults>) : {};
}

/** Keeps what a run has found, for the tables in docs/engines.md and docs/contributing/proofs.md; `npm run docs` writes them. */
export function recordEngineResult(report: EngineReport): void {
  const { engine, control, versions, date, seconds, faults, fired, ids, repeats } = report;
  const { segmentNumbers, segmentRepeats, gapless, refusals, longestRefusalMs } = report;
  const result: EngineResult = {
    versions,
    date,
    seconds,
    faults,
    fired,
    ids,
    repeats,
    segmentNumbers,
    segmentRepeats,
    ...(gapless !== undefined && { gapless }),
    refusals,
    longestRefusalMs,
  } as EngineResult;
  const results = readEngineResults();
  results[engine] = { ...results[engine], [control ? 'control' : 'run']: result };
  writeFileSync(FILE, JSON.stringify(results, undefined, 2) + '\n');
}
