import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RUNS, repositoryCommands, type CommandRun } from './command-runs.js';

const ROOT = resolve(__dirname, '../../..');
const COMMANDS = repositoryCommands();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The text of the shell, JavaScript or TypeScript that calls a script of the root. */
const callOf = (script: string): RegExp =>
  new RegExp(`(npm run (--silent )?${script}|npm', 'run', '(--silent', ')?${script})(?![\\w:])`);

/** Whether what is said to run a command does so. */
function isRun(name: string, run: CommandRun): boolean {
  const script = name.replace(/^npm run /, '');
  if ('small' in run) return true;
  if ('by' in run) return run.as === undefined ? callOf(script).test(read(run.by)) : read(run.by).includes(run.as);
  const caller = COMMANDS.find((each) => each.name === `npm run ${run.within}`)?.script ?? '';
  return callOf(script).test(caller) || caller.includes(name) || isPartOf(name, caller);
}

/** Whether all that a script calls is called by another. */
function isPartOf(name: string, caller: string): boolean {
  const parts = COMMANDS.find((each) => each.name === name)!.script!.split(' && ');
  return parts.length > 1 && parts.every((part) => caller.includes(part.replace(/ -- .*/, '')));
}

it('Every script of every package.json and every program of .ci has a run', () => {
  expect(COMMANDS.length).toBeGreaterThan(50);
  expect(COMMANDS.map(({ name }) => name).filter((name) => !(name in RUNS))).toEqual([]);
  expect(Object.keys(RUNS).filter((name) => COMMANDS.every((each) => each.name !== name))).toEqual([]);
});

it.each(Object.entries(RUNS))('%s is run where it is said to be', (name, run) => {
  expect([run, isRun(name, run)]).toEqual([run, true]);
});
