import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..');
const specs = ['apps', 'libs', 'test'].flatMap((folder) =>
  readdirSync(resolve(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /spec\.ts$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => `${folder}/${path}`),
);

/** What each package is built on: the code of a package can use these, and so can the tests beside it. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  core: [],
  node: ['core'],
  typeorm: ['core', 'node'],
  orm: ['core', 'node'],
  nestjs: ['core', 'node', 'typeorm'],
  cli: ['core', 'node'],
};

/** Why a test that reads `imported` stands in the wrong place; undefined where it may read that. */
function flawOf(spec: string, imported: string): string | undefined {
  const path = imported.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(spec), imported)) : imported;
  const [, reads] = /^(?:libs|@raindrop)\/([a-z]+)/.exec(path) ?? [];
  const [, own] = /^libs\/([a-z]+)\//.exec(spec) ?? [];
  if (own !== undefined) {
    if (reads !== undefined && reads !== own && !BELOW[own]!.includes(reads))
      return `libs/${own} is not built on ${reads}`;
    return path.startsWith('test/product/') ? 'what needs the product stands in test/product' : undefined;
  }
  if (!spec.startsWith('test/product/') || !path.startsWith('libs/')) return undefined;
  return 'users do not import this file: the test stands beside it, or imports an entry of the package';
}

const importsOf = (spec: string): string[] =>
  [...readFileSync(join(ROOT, spec), 'utf8').matchAll(/^(?:import|export|\} from)[^;']*'([^']+)';$/gm)].map(
    ([, imported]) => imported!,
  );

it('A test stands beside the code that it reads, or in test/product where it uses the product as a user does', () => {
  const flaws = specs.flatMap((spec) =>
    importsOf(spec).flatMap((imported) => {
      const flaw = flawOf(spec, imported);
      return flaw === undefined ? [] : [`${spec} imports ${imported}: ${flaw}`];
    }),
  );
  expect(flaws).toEqual([]);
});

it('A test that reads the wrong side of a package is found', () => {
  const beside = 'libs/node/src/workers/read-workers.spec.ts';
  expect(flawOf(beside, '@raindrop/nestjs')).toBe('libs/node is not built on nestjs');
  expect(flawOf(beside, '../../../../test/product/cli/cli-in-process.js')).toMatch(/test\/product/);
  expect(flawOf(beside, '../../../core/src/layout/layout.js')).toBeUndefined();
  expect(flawOf('test/product/cli/cli.e2e-spec.ts', '../../../libs/node/src/id-service.js')).toMatch(
    /stands beside it/,
  );
  expect(flawOf('test/product/cli/cli.e2e-spec.ts', '@raindrop/node/internal')).toBeUndefined();
});
