import { minifySync } from '@swc/core';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { EntityLintError } from '@raindrop/typeorm';
import { run } from '../../support/processes/run.js';
import { temporaryDirectory } from '../../support/state-file/temporary-directory.js';

const ROOT = resolve(__dirname, '../../..');
const PACKAGES = ['core', 'node', 'typeorm', 'nestjs', 'orm', 'cli'];

interface Answer {
  /** The names of classes of errors by what they are exported as, and what an error of each calls itself. */
  readonly named: Readonly<Record<string, { readonly ofClass: string; readonly ofError: string }>>;
  readonly short: string;
  readonly acrossCopies: readonly boolean[];
  readonly back: readonly boolean[];
  readonly rounded: Pick<EntityLintError, 'name' | 'errorCode' | 'message'>;
  readonly unattached: string;
}

let directory: string;
let drop: () => void;
let answer: Answer;

/** The built packages and an application of theirs, as a bundler's minifier writes them: every class is `a`, `b` or `c`. */
beforeAll(async () => {
  ({ directory, drop } = temporaryDirectory());
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const app = join(directory, 'app');
  const withErrors = PACKAGES.flatMap((name) => install(name, join(app, 'node_modules/@raindrop', name)));
  writeFileSync(join(app, 'minified.mjs'), minified(join(__dirname, 'minified.mjs'), true));
  const { stdout, stderr } = await run([process.execPath, join(app, 'minified.mjs'), __filename, ...withErrors]);
  if (stdout === '') throw new Error(stderr);
  answer = JSON.parse(stdout) as Answer;
});

afterAll(() => drop());

/** @returns the files that have classes of errors */
function install(name: string, to: string): string[] {
  const from = join(ROOT, 'libs', name);
  const files = readdirSync(join(from, 'dist'), { recursive: true, encoding: 'utf8' });
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'package.json'), readFileSync(join(from, 'package.json')));
  return files
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => {
      const [source, target] = [join(from, 'dist', file), join(to, 'dist', file)];
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, minified(source, false));
      return /^class \w+Error extends /m.test(readFileSync(source, 'utf8')) ? [target] : [];
    });
}

function minified(file: string, module: boolean): string {
  return minifySync(readFileSync(file, 'utf8'), { module, compress: true, mangle: { topLevel: true } }).code;
}

describe('Behind a minifier', () => {
  it('names of classes are short', () => expect(answer.short.length).toBeLessThan(3));

  it('errors, and their classes, keep their names', () => {
    const exported = Object.keys(answer.named);
    expect(exported.length).toBeGreaterThan(100);
    const literal = Object.fromEntries(exported.map((name) => [name, { ofClass: name, ofError: name }]));
    expect(answer.named).toEqual(literal);
  });

  it('an error of another copy is known, and is of no other class', () => {
    expect(answer.acrossCopies).toEqual([true, true, false]);
    expect(answer.back).toEqual([true, true]);
  });

  it('a column is named by its table', () => {
    expect(answer.rounded).toMatchObject({ name: 'EntityLintError', errorCode: 'ENTITY_LINT' });
    expect(answer.rounded.message).toContain('\n  - orders.id (better-sqlite3): ');
    expect(answer.unattached).toMatch(/^orders\.id was inserted without an ID, /);
  });
});
