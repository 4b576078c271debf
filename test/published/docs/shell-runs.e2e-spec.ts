import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openService, type OpenService } from '../../product/service/open-service.js';
import { commandsBy, runShell } from './run-shell.js';
import { differences } from './shown-answer.js';

const ROOT = resolve(__dirname, '../../..');
const LOCAL = 'http://127.0.0.1:3000';
const folder = mkdtempSync(join(tmpdir(), 'raindrop-shell-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

const withoutBuild = (script: string): string => script.split(' && ').at(-1)!;

describe('The service', () => {
  let service: OpenService;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  it.each(commandsBy('service'))('answers the commands of %s', async (_, commands) => {
    for (const { command, answer } of commands) {
      const { stdout } = await runShell(command.replace(LOCAL, service.url), folder);
      const answered = JSON.parse(stdout) as object;
      expect(answered).not.toHaveProperty('errorCode');
      if (answer !== '') expect([command, differences(JSON.parse(answer), answered)]).toEqual([command, []]);
    }
  });
});

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
