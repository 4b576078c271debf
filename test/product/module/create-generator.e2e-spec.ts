import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const hook = resolve(__dirname, '../../typescript-hook.cjs');
const THREADS = 3;
const IDS = 5_000;

/** The main thread and some others, every one of which creates a generator twice. */
const script = `
  const { Worker, isMainThread, parentPort } = require('node:worker_threads');
  const { createGenerator } = require('@raindrop/core');
  const issue = () => {
    const [one, two] = [createGenerator(), createGenerator()];
    return Array.from({ length: ${IDS} }, (_, index) => (index % 2 ? one : two).nextString());
  };
  if (isMainThread) {
    const threads = Array.from({ length: ${THREADS} }, () => new Worker(process.argv[1] ?? source, { eval: true }));
    const answers = threads.map((thread) => new Promise((done) => thread.once('message', done)));
    const own = issue();
    Promise.all(answers).then((all) => process.stdout.write([own, ...all].flat().join('\\n')));
  } else parentPort.postMessage(issue());
`;

jest.setTimeout(240_000);

it('threads and processes of one machine issue different IDs without any configuration, and end', () => {
  const run = (): string[] => {
    const code = `require(${JSON.stringify(hook)});const source = ${JSON.stringify(script)};${script}`;
    const threadCode = `require(${JSON.stringify(hook)});${script}`;
    const output = execFileSync(process.execPath, ['--eval', code, threadCode], {
      encoding: 'utf8',
      timeout: 100_000,
      maxBuffer: 2 ** 26,
    });
    return output.split('\n');
  };
  const ids = [...run(), ...run()];
  expect(ids).toHaveLength(2 * (THREADS + 1) * IDS);
  expect(new Set(ids).size).toBe(ids.length);
});
