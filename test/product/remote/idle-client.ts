import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { openIdService } from '@raindrop/node';
import { remoteIds } from '../../../libs/node/src/remote/remote-ids.js';
import { codesOf } from './codes-of.js';

const PAUSE_MS = 20;

/**
 * A process that takes IDs, once or until the service is gone, and then has nothing more to do: it closes nothing, and
 * ends.
 */
async function main([port, end]: readonly string[]): Promise<void> {
  const source = remoteIds({ url: `http://127.0.0.1:${port}` });
  const ids = await openIdService({ idSource: source, asyncTimeoutMs: 20_000 });
  const taken = await ids.nextStringsAsync(100);
  for (let isOver = end === 'once'; !isOver; await sleep(PAUSE_MS)) {
    try {
      taken.push(...(await ids.nextStringsAsync(5, undefined, { timeoutMs: 10 })));
      if (taken.length === 200) process.stdout.write('goes on\n');
    } catch (error) {
      isOver = codesOf(error).includes('ID_SOURCE_UNAVAILABLE');
    }
  }
  process.stdout.write(taken.join());
}

void main(process.argv.slice(2));
