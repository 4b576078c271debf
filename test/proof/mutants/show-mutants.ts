import { MUTANTS as RULES } from '../simulation/mutants.js';
import { MUTANTS } from './mutants.js';

/** One planted fault of the table: also those that the simulation plants by itself. */
export interface ShownMutant {
  readonly name: string;
  readonly breaks: string;
  readonly tier: number;
  readonly spec: string;
}

export const SIMULATION = 'test/proof/simulation/broken-rules.spec.ts';

/** All faults, those of the simulation first. */
export const ALL_MUTANTS: readonly ShownMutant[] = [
  ...Object.entries(RULES).map(([name, { rule }]) => ({ name, breaks: rule, tier: 1, spec: SIMULATION })),
  ...MUTANTS,
];

const TABLE = /(<!-- planted faults -->\n)[^]*?(<!-- \/planted faults -->)/g;

/** A Markdown text with its tables of planted faults made anew. */
export function withMutantTable(markdown: string): string {
  const rows = ALL_MUTANTS.map(({ name, breaks, tier, spec }) => `| ${breaks} | \`${name}\` | ${tier} | \`${spec}\` |`);
  const table = ['| promise that is broken | fault | tier | caught by |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
  return markdown.replace(TABLE, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
}
