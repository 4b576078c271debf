import { Injectable, Module, type DynamicModule, type Type } from '@nestjs/common';
import { parseShardedId } from '@raindrop/core';
import { IdService, InjectIdService, RaindropModule, type SegmentModuleOptions } from '@raindrop/nestjs';
import { redisBuffer } from '@raindrop/node/redis';
import { shardOf } from '../../../libs/core/src/segment/sharded/sharded-id.js';
import { startApp, typeorm } from '../../support/module/module-fixture.js';
import { startVolatileRedis } from '../../support/redis/volatile-redis.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [basic, sharded, redis] = typescriptBlocks(readDocument('docs/numbers.md'));

interface Shown {
  AppModule: Type;
  Desk: Type<{ ticket(): string; many(): Promise<bigint[]> }>;
  Shop: Type<{ number(email: string): Promise<bigint> }>;
  options: SegmentModuleOptions;
  shared: SegmentModuleOptions;
}

function run(block: string): Shown {
  return runBlock(block, { Injectable, Module, InjectIdService, RaindropModule, redisBuffer }) as unknown as Shown;
}

describe('The examples of docs/numbers.md', () => {
  const withDatabase = async (work: (imported: DynamicModule) => Promise<void>): Promise<void> => {
    const database = await testDatabase('sqlite');
    await work(typeorm(database.options));
    await database.drop();
  };

  it('issue tickets and batches', async () => {
    await withDatabase(async (database) => {
      const { AppModule, Desk } = run(basic!);
      const app = await startApp([database, AppModule as never], [Desk]);
      const desk = app.get(Desk);
      expect([desk.ticket(), desk.ticket(), desk.ticket()]).toEqual(['1', '2', '3']);
      expect(await desk.many()).toEqual(Array.from({ length: 500 }, (_, index) => BigInt(index + 1)));
      await app.close();
    });
  });

  it('issue sharded IDs', async () => {
    await withDatabase(async (database) => {
      const { Shop, options } = run(sharded!);
      const app = await startApp([database, RaindropModule.forRoot(options)], [Shop]);
      const id = await app.get(Shop).number('ada@example.org');
      expect(parseShardedId(id)).toEqual({ index: 1n, shard: shardOf('ada@example.org'), app: 1 });
      await app.close();
    });
  });

  it('take numbers from a range in Redis', async () => {
    await withDatabase(async (database) => {
      const server = await startVolatileRedis();
      const { shared } = run(redis!.replace('redis://127.0.0.1:6379', server.url));
      const app = await startApp([database, RaindropModule.forRoot(shared)]);
      expect(app.get(IdService).nextIds(10)).toEqual(Array.from({ length: 10 }, (_, index) => BigInt(index + 1)));
      expect(app.get(IdService).status()).toMatchObject({ lastError: undefined });
      await app.close();
      await server.stop();
    });
  });
});
