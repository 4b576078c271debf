import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLayout, RaindropError, type IdCalls, type LayoutOptions } from '@raindrop/core';
import { clusterPrimary } from '../../../libs/node/src/cluster/cluster-primary.js';
import { SETUP_VARIABLE, type FamilyCommand, type FamilyReport, type FamilySetup } from './family-messages.js';

const { options, directory, patienceMs } = JSON.parse(process.env[SETUP_VARIABLE]!) as FamilySetup;
const BATCH = 100;
let isStopped = false;

/** A worker that issues the primary's IDs, and writes every one into its file before it goes on. */
async function main(): Promise<void> {
  const begun = performance.now();
  const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength } = options as LayoutOptions;
  const layout = createLayout(
    { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays: 1 },
    Date.now(),
  );
  const engine = await clusterPrimary({ opTimeoutMs: patienceMs.answer }).open({ layout });
  process.on('message', (command: FamilyCommand) => void obey(engine.calls, command));
  const { workerId } = engine.status('default');
  tell({ kind: 'ready', startMs: performance.now() - begun, workerId, pid: process.pid });
}

async function obey(ids: IdCalls, command: FamilyCommand): Promise<void> {
  if (command.do === 'close') process.exit(0);
  if (command.do === 'stop') isStopped = true;
  if (command.do !== 'issue' && command.do !== 'stream') return;
  const begun = performance.now();
  const refusals = new Set<string>();
  isStopped = false;
  for (let left = command.do === 'issue' ? command.count : Infinity; left > 0 && !isStopped; left -= BATCH) {
    try {
      write(await next(ids));
    } catch (error) {
      for (let each = error; each instanceof RaindropError; each = each.cause) {
        if (!refusals.has(each.errorCode)) tell({ kind: 'refused', code: each.errorCode, pid: process.pid });
        refusals.add(each.errorCode);
      }
    }
    if (command.do === 'stream') await sleep(2);
  }
  tell({ kind: 'done', tookMs: performance.now() - begun, refusals: [...refusals], pid: process.pid });
}

/** Half of them without waiting, as long as there are some. */
async function next(ids: IdCalls): Promise<BigInt64Array> {
  const batch = new BigInt64Array(BATCH);
  for (let index = 0; index < BATCH; index++) {
    try {
      if (index % 2 === 1) batch[index] = ids.nextId();
    } catch {
      // The wait is next.
    }
    if (batch[index] === 0n)
      batch[index] = await ids.nextIdAsync(undefined, { timeoutMs: patienceMs.ids }).catch(discard(batch, index));
  }
  return batch;
}

/** Those that were taken before are written nevertheless. */
function discard(batch: BigInt64Array, taken: number): (error: unknown) => never {
  return (error) => {
    write(batch.slice(0, taken));
    throw error;
  };
}

function write(ids: BigInt64Array): void {
  appendFileSync(join(directory, `${process.pid}.ids`), new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength));
}

function tell(report: FamilyReport): void {
  process.send?.(report);
}

void main().catch((error: unknown) => tell({ kind: 'failed', message: String(error), pid: process.pid }));
