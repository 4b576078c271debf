import { writeSync } from 'node:fs';
import type { WorkerWrite } from '@raindrop/core';
import { FileWorkerStore } from '../../../libs/node/src/state-file/file-worker-store.js';
import { StateDirectory } from '../../../libs/node/src/state-file/state-directory.js';
import { gatedFiles } from './gated-files.js';

/** Writes a row over and over, says so each time, and kills itself before one of its calls of the file system. */
async function main(path: string, diesAt: number, writes: number): Promise<void> {
  let calls = 0;
  const files = gatedFiles(() => {
    if (calls++ === diesAt) process.kill(process.pid, 'SIGKILL');
    return Promise.resolve();
  });
  const store = new FileWorkerStore({ path, directory: new StateDirectory(path, files) });
  await store.prepare({ min: 1, max: 1 });
  for (let round = 0; round < writes; round++) {
    const { row } = await store.readRow(1);
    const { version, token, odometers } = row!;
    const ms = odometers[0].ms + 1;
    const write: WorkerWrite = {
      id: 1,
      expected: { version, token },
      token: `${process.pid}-${round}`,
      holder: 'mortal',
      layout: '',
      lane: 0,
      odometers: [{ ms, sequence: 0 }, odometers[1]],
      code: '',
      timeUnit: 1,
      leaseMs: 1_000,
    };
    if (await store.write(write)) writeSync(1, `${ms}\n`);
  }
  writeSync(1, 'end\n');
}

const [path, diesAt, writes] = process.argv.slice(2);
void main(path!, Number(diesAt), Number(writes));
