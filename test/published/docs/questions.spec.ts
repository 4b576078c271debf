import { compareIds, type Layout } from '@raindrop/core';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [buckets, centres, codes, milliseconds] = typescriptBlocks(readDocument('docs/choosing.md#questions'));
const POLLING = typescriptBlocks(readDocument('docs/typeorm.md#pagination-by-id')).find((each) =>
  each.includes('idFloor'),
);
const BITS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };

/** A second that has just begun. */
const START = Date.parse('2026-11-21T05:06:58Z');

interface Centres {
  readonly north: SnowflakeModuleOptions;
  readonly south: SnowflakeModuleOptions;
}

describe('The answers of docs/choosing.md', () => {
  it('find a bucket in spite of the end bit', () => {
    const { bucket } = runBlock(buckets!, { endBitsLength: 1 }) as { bucket: (id: bigint, count: bigint) => bigint };
    const { ids } = createTestIdService(BITS);
    const found = ids.nextIds(8);
    expect(found.map((id) => id % 2n)).toEqual(found.map(() => 0n));
    expect(found.map((id) => bucket(id, 8n))).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n]);
  });

  it('keep two data centres apart', () => {
    const forRoot = (options: SnowflakeModuleOptions): SnowflakeModuleOptions => options;
    const { north, south } = runBlock(centres!, { RaindropModule: { forRoot } }) as unknown as Centres;
    expect(north.serviceMaxWorkId! + 1).toBe(south.serviceMinWorkId);
    for (const options of [north, south]) expect(createTestIdService(options).ids.nextId()).toBeGreaterThan(0n);
  });

  it('say how exact the order across processes is', async () => {
    const { inMilliseconds } = runBlock(milliseconds!, {}) as { inMilliseconds: typeof BITS };
    // What two workers with exact clocks issue: 500 at 0.1 s, 3 at 0.9 s.
    const issue = async (bits: object): Promise<readonly bigint[]> => {
      const [early, late] = [500, 3].map((workerId) => createTestIdService({ ...bits, workerId, now: START }));
      await early!.clock.advance(100);
      await late!.clock.advance(900);
      return [early!.ids.nextId(), late!.ids.nextId()];
    };
    const [early, late] = await issue(BITS);
    expect(late).toBeLessThan(early!);
    const [exact, after] = await issue(inMilliseconds);
    expect(after).toBeGreaterThan(exact!);
    const { layout } = createTestIdService(inMilliseconds).ids;
    expect([layout.expiresAt!.getUTCFullYear(), layout.idsPerTick]).toEqual([2095, 1_024]);
    expect(createTestIdService(BITS).ids.layout.expiresAt!.getUTCFullYear()).toBe(2298);
  });

  it('warn of one table under two codes', () => {
    const { ids } = createTestIdService(BITS);
    expect(runBlock(codes!, { ids })).toEqual({ sameUnderTwoCodes: true });
  });
});

describe('The polling of docs/typeorm.md', () => {
  /** Polls every 100 ms, as worker 500 issues at 0.1 s and worker 3 at 0.9 s, and returns what it has read. */
  async function poll(limitOf: (layout: Layout, nowMs: number) => bigint): Promise<number[]> {
    const services = [500, 3].map((workerId) => createTestIdService({ ...BITS, workerId, now: START }));
    const [table, read]: bigint[][] = [[], []];
    for (let ms = 0; ms <= 200_000; ms += 100) {
      if (ms === 100) table!.push(services[0]!.ids.nextId());
      if (ms === 900) table!.push(services[1]!.ids.nextId());
      const limit = limitOf(services[0]!.ids.layout, START + ms);
      read!.push(...[...table!].sort(compareIds).filter((id) => id > (read!.at(-1) ?? 0n) && id < limit));
      for (const { clock } of services) await clock.advance(100);
    }
    return read!.map((id) => services[0]!.ids.parse(id).workerId);
  }

  it('reads each row, in order, though one with a smaller ID comes later', async () => {
    const settled = (layout: Layout, nowMs: number): bigint => {
      const block = runBlock(POLLING!, { ids: { layout }, Date: { now: () => nowMs } });
      return (block['settledBelow'] as () => bigint)();
    };
    expect(await poll(settled)).toEqual([3, 500]);
  });

  it('would miss one without a limit', async () => {
    expect(await poll((layout, nowMs) => layout.idCeil(nowMs))).toEqual([500]);
  });
});
