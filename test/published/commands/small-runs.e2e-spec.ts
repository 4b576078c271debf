import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { run } from '../../support/processes/run.js';
import { RUNS } from './command-runs.js';

const ROOT = resolve(__dirname, '../../..');
/** It has two cores at the worst that others use too. */
const DEADLINE_MS = 600_000;
/** What this run of jest tells its processes: a command has a run, and servers, of its own. */
const OURS = Object.keys(process.env).filter((name) => /^(RAINDROP_TEST_|JEST_)/.test(name));
const folder = mkdtempSync(join(tmpdir(), 'raindrop-commands-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The part of the repository that a command changes, with a file that is not formatted. */
function copy(paths: readonly string[]): string {
  const to = mkdtempSync(join(folder, 'copy-'));
  for (const path of paths) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    const isSource = (each: string): boolean => !/\/(node_modules|dist)$/.test(each);
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: isSource });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
  mkdirSync(join(to, 'tools'), { recursive: true });
  writeFileSync(join(to, 'tools/unformatted.cjs'), 'module.exports = {a:1}\n');
  return to;
}

const small = Object.entries(RUNS).flatMap(([name, each]) => ('small' in each ? [{ name, ...each }] : []));

it.each(small)(
  '$name runs with a small input: $small',
  async ({ name, small: args, prints, copied }) => {
    const command = `unset ${OURS.join(' ')}; ${name.replace('npm run', 'npm run --silent')} ${args}`;
    const cwd = copied === undefined ? ROOT : copy(copied);
    const { code, stdout, stderr } = await run(['bash', '-c', command], { cwd, diesBy: false, withinMs: DEADLINE_MS });
    const printed = stripVTControlCharacters(`${stdout}${stderr}`);
    expect({ code, printed: code === 0 ? '' : printed }).toEqual({ code: 0, printed: '' });
    expect(printed).toMatch(prints);
  },
  DEADLINE_MS,
);
