import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../../support/processes/run.js';
import { temporaryDirectory } from '../../support/state-file/temporary-directory.js';

const ROOT = resolve(__dirname, '../../..');
const PACKAGES = ['core', 'node', 'typeorm', 'nestjs'];
const ESM = `export * as node from '@raindrop/node';\nexport * as nestjs from '@raindrop/nestjs';\n`;

let directory: string;
let drop: () => void;

/** Two copies of the built packages of this version, and one of another; what they need besides they share. */
beforeAll(() => {
  ({ directory, drop } = temporaryDirectory());
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  install('a');
  install('b');
  install('other', '9.9.9');
});

afterAll(() => drop());

function install(name: string, version?: string): void {
  for (const each of PACKAGES) {
    const [from, to] = [join(ROOT, 'libs', each), join(directory, name, 'node_modules/@raindrop', each)];
    mkdirSync(to, { recursive: true });
    cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as object;
    writeFileSync(join(to, 'package.json'), JSON.stringify({ ...manifest, ...(version !== undefined && { version }) }));
  }
  writeFileSync(join(directory, name, 'app.mjs'), ESM);
}

interface Answered {
  readonly answers: Readonly<Record<string, unknown>>;
  /** What the process said on the way. */
  readonly said: string;
}

/** Runs cases, in this order, in a process with a copy of each folder. */
async function answered(other: string, cases: readonly string[]): Promise<Answered> {
  const [a, b] = [join(directory, 'a'), join(directory, other)];
  const command = [
    process.execPath,
    join(__dirname, 'two-copies.mjs'),
    a,
    b,
    join(directory, `${other}.sqlite`),
    ...cases,
  ];
  const { stdout, stderr } = await run(command as [string, ...string[]]);
  if (stdout === '') throw new Error(stderr);
  return { answers: JSON.parse(stdout) as Answered['answers'], said: stderr };
}

const copyOf = (name: string): string => join(directory, name, 'node_modules/@raindrop/nestjs');
const id = expect.stringMatching(/^\d{10,19}$/) as string;

/** What works in whichever copies. */
const WORKS: Readonly<Record<string, object>> = {
  errors: { isError: true, isAnother: false, isNone: false },
  layout: { isSame: true },
  firstOf: { workerId: 3 },
  createGenerator: { different: 1_000 },
  rows: { workers: 2 },
  named: { id },
  discovered: { services: 1 },
  entity: { id, found: 1 },
  transactions: ['a begins', 'a ends', 'b begins', 'b ends'],
};

describe('Two copies of one version', () => {
  const works = { injected: { id }, got: { id }, esm: { isSame: true }, thread: {}, ...WORKS };
  let found: Answered;
  beforeAll(async () => {
    found = await answered('b', [...Object.keys(works), 'twoModules', 'twoLocalModules']);
  });

  it.each(Object.entries(works))('know one another: %s', (name, expected) => {
    expect(found.answers[name]).toEqual(expected);
  });

  it('need no warning', () => expect(found.said).not.toContain('versions'));

  it('do not both register a module under one name', () => {
    expect(found.answers['twoModules']).toMatchObject({ error: 'CONFIGURATION' });
    const told = JSON.stringify(found.answers['twoModules']);
    for (const each of ['registered 2 times', copyOf('a'), copyOf('b')]) expect(told).toContain(each);
  });

  it('do not both fill the columns of one name', () => {
    expect(found.answers['twoLocalModules']).toMatchObject({ error: 'ALREADY_ATTACHED' });
  });
});

describe('Copies of two versions', () => {
  let found: Answered;
  beforeAll(async () => {
    found = await answered('other', ['injected', 'got', ...Object.keys(WORKS)]);
  });

  it.each(Object.entries(WORKS))('know one another: %s', (name, expected) => {
    expect(found.answers[name]).toEqual(expected);
  });

  it.each(['injected', 'got'])('do not give one another: %s, with both versions, their places and the cure', (way) => {
    expect(found.answers[way]).toMatchObject({ error: 'CONFIGURATION' });
    const told = JSON.stringify(found.answers[way]);
    const parts = ['9.9.9', copyOf('a'), copyOf('other'), 'npm ls @raindrop/nestjs', 'npm dedupe'];
    for (const each of parts) expect(told).toContain(each);
  });

  it('are told of when a service starts', () => {
    for (const each of ['9.9.9', '@raindrop/node', 'npm ls', 'npm dedupe']) expect(found.said).toContain(each);
  });

  it('are not told of when each has a thread of its own', async () => {
    const { answers, said } = await answered('other', ['thread']);
    expect(answers).toEqual({ thread: {} });
    expect(said).not.toContain('versions');
  });
});
