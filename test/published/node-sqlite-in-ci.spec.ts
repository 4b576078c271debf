import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

const textOf = (file: string): string => readFileSync(resolve(__dirname, '../..', file), 'utf8');

it('CI runs the tests of node:sqlite on a Node that has it, which the machine of a developer need not have', () => {
  const { jobs } = parse(textOf('.github/workflows/ci.yml')) as {
    jobs: { gate: { strategy: { matrix: { node: number[] } }; steps: { run?: string }[] } };
  };
  expect(jobs.gate.strategy.matrix.node.filter((major) => major >= 22)).not.toEqual([]);
  expect(jobs.gate.steps.map((each) => each.run)).toContain('.ci/run');
  for (const file of ['.ci/run', '.ci/node-leg'])
    expect(textOf(file)).toMatch(/^step 'node:sqlite' \.ci\/node-sqlite$/m);
  expect(textOf('.ci/node-sqlite')).toContain('npm run --silent test:sqlite');
});

it('A Node from 22.13 on has node:sqlite: no test of it is skipped there', () => {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  const isLater = major > 22 || (major === 22 && minor >= 13);
  expect(process.getBuiltinModule('node:sqlite') !== undefined).toBe(isLater);
});
