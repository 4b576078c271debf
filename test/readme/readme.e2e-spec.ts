import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startDemo, type DemoProcess } from '../demo/demo-process.js';
import { shellCommands } from '../docs/shell-commands.js';
import { run } from '../processes/run.js';
import { findProgram } from '../servers/find-program.js';

const README = readFileSync(resolve(__dirname, '../../README.md'), 'utf8');
const LOCAL = 'http://127.0.0.1:3000';

/** Every curl line of the README, with the answer that stands below it. */
const CALLS = shellCommands(['README.md'])
  .filter(({ command }) => command.startsWith('curl '))
  .map(({ command, answer }) => ({ line: command, answer }));

/** What every answer has in common: numbers, times and IDs differ from run to run. */
function outline(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outline);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, outline(each)]));
  }
  if (typeof value === 'number') return expect.any(Number);
  if (typeof value !== 'string') return value;
  if (/^\d{16,}$/.test(value)) return expect.stringMatching(/^\d{16,}$/);
  if (/^2D\w{8}$/.test(value)) return expect.stringMatching(/^\w{10,11}$/);
  if (value.startsWith('urn:uuid:')) return expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/);
  return Number.isNaN(Date.parse(value)) || !value.includes('T') ? value : expect.stringMatching(/^\d{4}-.*Z$/);
}

describe('The README', () => {
  let demo: DemoProcess;
  let directory: string;

  beforeAll(async () => {
    findProgram('curl');
    directory = mkdtempSync(join(tmpdir(), 'raindrop-readme-'));
    demo = await startDemo({ cwd: directory });
  });

  afterAll(async () => {
    await demo.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('shows curl lines', () => {
    expect(CALLS).toHaveLength(README.match(/^curl /gm)!.length);
    expect(CALLS.length).toBeGreaterThan(4);
  });

  it.each(CALLS)('answers as it says: $line', async ({ line, answer }) => {
    const { stdout } = await run(['sh', '-c', line.replaceAll(LOCAL, demo.url)]);
    expect(JSON.parse(stdout)).toMatchObject(outline(JSON.parse(answer)) as object);
  });

  it('counts fifteen lines of use, give or take the imports', () => {
    const use = /## Use\n+```ts\n([\s\S]*?)```/.exec(README)![1]!;
    expect(use.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20);
  });

  it('has both commands, the layout and the two sentences on its first screen', () => {
    const screen = README.split('\n').slice(0, 30).join('\n');
    for (const text of ['npm ci && npm start', 'npm ci && npm test', '|   timestamp    |'])
      expect(screen).toContain(text);
  });
});
