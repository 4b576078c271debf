import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDemo, type OpenDemo } from '../demo/open-demo.js';
import { startListening, type Listening } from '../processes/listening.js';
import { commandsBy, runShell } from './run-shell.js';
import { differences } from './shown-answer.js';

// Every command is a process, and an example is compiled first.
const ROOT = resolve(__dirname, '../..');
const LOCAL = 'http://127.0.0.1:3000';
const folder = mkdtempSync(join(tmpdir(), 'raindrop-shell-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

const withoutBuild = (script: string): string => script.split(' && ').at(-1)!;

describe('The service', () => {
  let demo: OpenDemo;
  beforeAll(async () => {
    demo = await openDemo();
  });
  afterAll(() => demo.close());

  it.each(commandsBy('service'))('answers the commands of %s', async (_, commands) => {
    for (const { command, answer } of commands) {
      const { stdout } = await runShell(command.replace(LOCAL, demo.url), folder);
      const answered = JSON.parse(stdout) as object;
      expect(answered).not.toHaveProperty('errorCode');
      if (answer !== '') expect([command, differences(JSON.parse(answer), answered)]).toEqual([command, []]);
    }
  });
});

describe.each(commandsBy('example'))('The commands of %s', (document, commands) => {
  const services: Listening[] = [];
  afterAll(() => Promise.all(services.map((each) => each.stop())));

  it('start it, and it answers as shown', async () => {
    // A copy, as its README says that it can be taken: with what npm install would fetch.
    const copy = join(folder, document.split('/')[1]!);
    cpSync(join(ROOT, document, '..'), copy, {
      recursive: true,
      filter: (path) => !/(^|\/)(dist|node_modules)$|\.sqlite/.test(path),
    });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const names = new Map<string, string>();
    const urls = new Map<string, string>();
    const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as Manifest;
    for (const { command, answer } of commands) {
      if (command.endsWith('npm start')) {
        const port = /\bPORT=(\d+) /.exec(command)?.[1] ?? '3000';
        // What is built is not built once more.
        const line = services.length === 0 ? command : command.replace(/npm start$/, withoutBuild(scripts['start']!));
        const shell = ['sh', '-c', line.replace(/\bPORT=\d+ /, '')] as const;
        // npm's children end with it.
        const started = await startListening(shell, { cwd: copy, hasGroup: true });
        services.push(started);
        urls.set(`http://127.0.0.1:${port}`, started.url);
        continue;
      }
      let line = command;
      for (const [shown, now] of [...urls, ...names]) line = line.replace(shown, now);
      const answered: unknown = JSON.parse((await runShell(line, copy)).stdout);
      expect([command, differences(JSON.parse(answer), answered, names)]).toEqual([command, []]);
    }
  });
});

describe('A program that works for minutes', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const byScript = new Map<string, string>();
  for (const [, commands] of commandsBy('help')) {
    for (const { command } of commands) {
      const [, script, args = ''] = /^npm run ([\w:]+)(?: -- ([^#]*))?/.exec(command)!;
      byScript.set(script!, `${byScript.get(script!) ?? ''} ${args}`.trim());
    }
  }

  it.each([...byScript])('knows the flags that documents give it: npm run %s -- %s', async (script, args) => {
    const { code, stdout } = await runShell(`${withoutBuild(scripts[script]!)} ${args} --help`, ROOT);
    expect(code).toBe(0);
    for (const [flag] of args.matchAll(/--[\w-]+/g)) expect(stdout).toContain(`${flag} `);
  });
});
