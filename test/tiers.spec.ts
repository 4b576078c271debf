import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MUTANTS } from './proof/mutants/mutants.js';
import { longest, shared, slow } from './tiers.cjs';

const ROOT = resolve(__dirname, '..');
const specs = ['apps', 'libs', 'test'].flatMap((folder) =>
  readdirSync(resolve(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /spec\.ts$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => `${folder}/${path}`),
);
const among = (patterns: readonly string[], path: string): boolean =>
  patterns.some((pattern) => new RegExp(`^${pattern}`).test(path));

it('Every pattern of a tier fits a test', () => {
  for (const pattern of [...slow, ...shared, ...longest]) {
    expect([pattern, specs.some((path) => among([pattern], path))]).toEqual([pattern, true]);
  }
});

/** The tests that jest would run in a tier, by its configuration. */
function inTier(tier: string): string[] {
  const usual = process.env['RAINDROP_TEST_TIER'];
  process.env['RAINDROP_TEST_TIER'] = tier;
  try {
    jest.resetModules();
    const { testRegex, testPathIgnorePatterns } = jest.requireActual<Record<string, string[]>>('../jest.config.cjs');
    const fits = (patterns: string[], path: string): boolean =>
      patterns.some((pattern) => new RegExp(pattern.replace('<rootDir>', ROOT)).test(join(ROOT, path)));
    return specs.filter((path) => fits(testRegex!, path) && !fits(testPathIgnorePatterns!, path));
  } finally {
    if (usual === undefined) delete process.env['RAINDROP_TEST_TIER'];
    else process.env['RAINDROP_TEST_TIER'] = usual;
  }
}

it('Every test is in one tier, or shared by both', () => {
  const [usual, rest] = [inTier(''), inTier('all')];
  expect([...new Set([...usual, ...rest])].sort()).toEqual([...specs].sort());
  expect(usual.filter((path) => rest.includes(path))).toEqual(usual.filter((path) => among(shared, path)));
});

it('What makes a part of its runs in npm test makes the others in test:all', () => {
  const parted = specs.filter((path) =>
    /\btier\.js'|\b(overPortsOf|kindsOf)(Tier)\b|\bkinds(InTurn)\b/.test(readFileSync(resolve(ROOT, path), 'utf8')),
  );
  expect(parted.filter((path) => !among(shared, path))).toEqual([]);
});

it('What is said to catch a planted fault runs in that tier', () => {
  for (const { name, spec, tier } of MUTANTS) {
    expect([name, specs.includes(spec), among(slow, spec) ? 2 : 1]).toEqual([name, true, tier]);
  }
});
