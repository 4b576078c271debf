import { MemoryWorkerStore, MemoryWorkerTable, type Worker } from '@raindrop/core/internal';
import type { LeaseEvent } from '@raindrop/core';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import { leaseWorker } from './open-worker.js';

const DAY_MS = 86_400_000;

/** A worker on a layout of 31 bits of seconds: it expires 68 years after 2026-01-01, on 2094-01-19. */
async function workerFrom(now: string): Promise<{ time: VirtualTime; worker: Worker; warnings: string[] }> {
  const time = new VirtualTime(now);
  const lease = { heartbeatIntervalMs: 600_000, leaseMs: 3_600_000, minLifetimeDays: 0 };
  const layout = { startTimeStamp: '2026-01-01', timeStampLength: 31, workIdLength: 5 };
  const options = resolveSnowflakeOptions({ ...layout, ...lease }, time.wall);
  const ports = { ...time, clock: time.clock, timers: time, processId: () => 1 };
  const store = new MemoryWorkerStore(new MemoryWorkerTable(), () => time.wall);
  const worker = leaseWorker(options, { store, ports });
  const warnings: string[] = [];
  worker.onEvent((event: LeaseEvent) => {
    if (event.type === 'warning') warnings.push(event.message);
  });
  await worker.start();
  return { time, worker, warnings };
}

describe('A worker that is held for long', () => {
  it("warns once a day from the beginning of its layout's last year on", async () => {
    const { time, worker, warnings } = await workerFrom('2093-01-16T12:00:00Z');
    await time.advance(2 * DAY_MS);
    expect(warnings).toEqual([]);
    await time.advance(4.5 * DAY_MS);
    expect(warnings).toHaveLength(4);
    expect(new Set(warnings)).toEqual(new Set(['the layout expires at 2094-01-19T03:14:08.000Z: plan the next one']));
    await worker.close();
    expect(time.pending.size).toBe(0);
  });

  it('says nothing before, and nothing on the day of its start, which has said it', async () => {
    const early = await workerFrom('2060-01-01');
    await early.time.advance(3 * DAY_MS);
    expect(early.warnings).toEqual([]);
    const late = await workerFrom('2093-06-01');
    await late.time.advance(DAY_MS - 3_600_000);
    expect(late.warnings).toEqual([]);
  });
});
