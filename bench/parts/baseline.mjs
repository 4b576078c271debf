import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../baseline.json', import.meta.url);
/** Machines differ, and so do runs: only what is worse by half is told. */
const MARGIN = 1.5;

/** The ratios that were stored, by question and name. */
export function readBaseline() {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** Stores the ratios that have a target; questions that were not asked keep theirs. */
export function writeBaseline(results) {
  const stored = readBaseline();
  for (const [question, { ratios }] of Object.entries(results)) {
    stored[question] = Object.fromEntries(
      ratios.filter(hasTarget).map(({ name, value }) => [name, Number(value.toPrecision(3))]),
    );
  }
  writeFileSync(FILE, `${JSON.stringify(stored, null, 2)}\n`);
}

/** Ratios that are much worse than what is stored; a new one has nothing to be compared with. */
export function findSlower(results, baseline) {
  return Object.entries(results).flatMap(([question, { ratios }]) =>
    ratios.filter(hasTarget).flatMap(({ name, value, atMost }) => {
      const stored = baseline[question]?.[name];
      if (stored === undefined) return [];
      const isWorse = atMost === undefined ? value * MARGIN < stored : value > stored * MARGIN;
      return isWorse ? [{ question, name, value, stored }] : [];
    }),
  );
}

function hasTarget({ atMost, atLeast }) {
  return atMost !== undefined || atLeast !== undefined;
}
