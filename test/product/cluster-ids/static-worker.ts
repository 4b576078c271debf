import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLayout, type LayoutOptions } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { SETUP_VARIABLE, type FamilyCommand, type FamilySetup } from './family-messages.js';

const { options, directory } = JSON.parse(process.env[SETUP_VARIABLE]!) as FamilySetup;

/** A worker that makes IDs itself, with the worker id that all its siblings use as well: what the broker is there for. */
const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength } = options as LayoutOptions;
const layout = createLayout(
  { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays: 1 },
  Date.now(),
);
const ids = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1, 0) }, systemPorts('turn'));
process.on('message', (command: FamilyCommand) => {
  if (command.do === 'close') process.exit(0);
  if (command.do !== 'issue') return;
  void issue(command.count).then(() => process.send!({ kind: 'done', tookMs: 0, refusals: [], pid: process.pid }));
});

async function issue(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 100) {
    const batch = ids.fill(new BigInt64Array(100));
    appendFileSync(join(directory, `${process.pid}.ids`), new Uint8Array(batch.buffer));
    await sleep(1);
  }
}

process.send!({ kind: 'ready', startMs: 0, workerId: 1, pid: process.pid });
