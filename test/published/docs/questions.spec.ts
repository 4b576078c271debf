import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [buckets, centres, codes] = typescriptBlocks(readDocument('docs/choosing.md#questions'));
const BITS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };

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

  it('warn of one table under two codes', () => {
    const { ids } = createTestIdService(BITS);
    expect(runBlock(codes!, { ids })).toEqual({ sameUnderTwoCodes: true });
  });
});
