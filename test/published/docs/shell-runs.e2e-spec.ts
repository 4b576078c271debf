import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandsBy, runShell } from './run-shell.js';

const ROOT = resolve(__dirname, '../../..');

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

const withoutBuild = (script: string): string => script.split(' && ').at(-1)!;

describe('A program that works for minutes', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const byScript = new Map<string, string>();
  for (const [, commands] of commandsBy('help')) {
    for (const { command } of commands) {
      const [, script, args = ''] = /^npm run ([\w:]+)(?: -- ([^#]*))?/.exec(command)!;
      // With an engine the command has other flags.
      const name = `${script}${args.includes('--engine') ? ' --engine' : ''}`;
      byScript.set(name, `${byScript.get(name) ?? ''} ${args}`.trim());
    }
  }

  it.each([...byScript])('knows the flags that documents give it: npm run %s: %s', async (script, args) => {
    const { code, stdout } = await runShell(`${withoutBuild(scripts[script.split(' ')[0]!]!)} ${args} --help`, ROOT);
    expect(code).toBe(0);
    for (const [flag] of args.matchAll(/--[\w-]+/g)) expect(stdout).toContain(`${flag} `);
  });
});
