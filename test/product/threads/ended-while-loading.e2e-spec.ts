import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const ENTRY = resolve(__dirname, '../../../libs/node/dist/threads/index.js');

/** Ends 250 threads, each at another moment of its first 40 ms. */
const SCRIPT = `
const { Worker } = require('node:worker_threads');
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
(async () => {
  for (let thread = 0; thread < 250; thread++) {
    const worker = new Worker('require(' + JSON.stringify(${JSON.stringify(ENTRY)}) + ')', { eval: true });
    worker.on('error', (error) => { throw error; });
    await pause(((thread * 7) % 250) * 0.16);
    await worker.terminate();
  }
})();
`;

it('A thread that is ended while it loads the IDs of a ring ends alone: the process goes on', async () => {
  expect(existsSync(ENTRY)).toBe(true);
  const child = spawn(process.execPath, ['-e', SCRIPT], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([code, signal]).toEqual([0, null]);
});
