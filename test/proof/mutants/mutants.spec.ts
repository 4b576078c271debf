import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { planted } from './planted-sources.js';
import { ALL_MUTANTS, withMutantTable } from './show-mutants.js';

const root = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('A fault that is planted', () => {
  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('finds its place: %s', (_, mutant) => {
    expect(planted(read(mutant.file), mutant)).not.toBe(read(mutant.file));
    expect(existsSync(join(root, mutant.spec))).toBe(true);
  });

  it('is refused where the text is missing, or there twice', () => {
    const mutant = { name: 'a', file: 'b.ts', find: 'x', replace: 'y' } as Mutant;
    expect(planted('1x2', mutant)).toBe('1y2');
    expect(() => planted('12', mutant)).toThrow('a: b.ts must have this exactly once: x');
    expect(() => planted('x1x', mutant)).toThrow('a: b.ts must have this exactly once: x');
  });

  it('has a name of its own', () => {
    expect(new Set(ALL_MUTANTS.map(({ name }) => name)).size).toBe(ALL_MUTANTS.length);
  });
});

it('The table in test/README.md is the one of the source (npm run docs writes it)', () => {
  const document = read('test/README.md');
  expect(document).toContain('<!-- planted faults -->');
  expect(withMutantTable(document)).toBe(document);
});
