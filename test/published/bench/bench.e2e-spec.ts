import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH, printedBy } from './printed-by.js';

const QUESTIONS = readdirSync(join(BENCH, 'questions')).map((file) => file.replace('.mjs', ''));

interface Row {
  readonly name: string;
  readonly note?: string;
}

/** What `npm run bench -- --json` prints. */
interface Answers {
  readonly results: Record<string, { readonly question: string; readonly figures: Row[]; readonly ratios: Row[] }>;
}

describe('npm run bench, for a moment', () => {
  it.each(QUESTIONS)('answers the question of %s, with every ratio that npm run bench:check compares', async (name) => {
    const { results } = JSON.parse(await printedBy('bench.mjs', '--moment', '--json', name)) as Answers;
    const { question, figures, ratios } = results[name]!;
    expect(question).toMatch(/\?( \(.+\))?$/);
    expect(figures.length).toBeGreaterThan(0);
    expect([...figures, ...ratios].filter(({ note }) => note?.includes('left out') === true)).toEqual([]);
    const baseline = JSON.parse(readFileSync(join(BENCH, 'baseline.json'), 'utf8')) as Record<string, object>;
    expect(ratios.map((row) => row.name)).toEqual(expect.arrayContaining(Object.keys(baseline[name] ?? {})));
  });

  it('prints a table of the figures, and one of the ratios', async () => {
    const printed = await printedBy('bench.mjs', '--moment', 'metrics');
    expect(printed).toMatch(/│ nextId\(code\), 512 codes, observed +│ +[\d.,]+ ns │/);
    expect(printed).toMatch(/│ nextId\(code\), observed \/ without metrics │ +[\d.,]+ │ <= 1\.05/);
  });
});
