import { Injectable, Module, type Type } from '@nestjs/common';
import { getIdServiceToken, RaindropModule } from '@raindrop/nestjs';
import { ShortIdGenerator } from '../../../libs/core/src/short-id/short-id-generator.js';
import { shortIdLayout } from '../../../libs/core/src/short-id/short-id.js';
import { createGenerator } from '../../../libs/core/src/zero-config/create-generator.js';
import { startApp, typeorm } from '../../support/module/module-fixture.js';
import { kindsOfTier, testDatabase } from '../../support/servers/test-databases.js';
import { expectSince } from '../../support/expect-since.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [qrModule] = typescriptBlocks(readDocument('docs/presets.md#short-ids'));
const [script] = typescriptBlocks(readDocument('docs/presets.md#creategenerator'));

interface Shown {
  QrModule: Type;
  QrCodes: Type<{ scene(): { scene: number; expireSeconds: number } }>;
}

describe('The examples of docs/presets.md#short-ids', () => {
  const quiet = { log: () => {}, warn: () => {}, error: () => {} };
  const Quiet = { forRoot: (options: object) => RaindropModule.forRoot({ ...options, logger: quiet }) };
  const scope = {
    Injectable,
    Module,
    RaindropModule: Quiet,
    getIdServiceToken,
    ShortIdGenerator,
    shortIdLayout,
    Object,
  };

  it.each(kindsOfTier)('issue scene ids with workers leased from %s, also after a restart', async (kind) => {
    const database = await testDatabase(kind);
    const { QrModule, QrCodes } = runBlock(qrModule!, { ...scope, IdService: Object }) as unknown as Shown;
    const scenes = new Set<number>();
    for (let run = 0; run < 3; run++) {
      const app = await startApp([typeorm(database.options), QrModule]);
      const codes = app.get(QrCodes, { strict: false });
      const issuedMs = Date.now();
      for (let count = 0; count < 100; count++) scenes.add(codes.scene().scene);
      const shortIds = app.get(ShortIdGenerator, { strict: false });
      const { time, workerId } = shortIds.decode(codes.scene().scene);
      expectSince(issuedMs, time.getTime());
      expect(workerId).toBeLessThan(32);
      await app.close();
    }
    expect(scenes.size).toBe(300);
    await database.drop();
  });

  it('issue IDs without any configuration', () => {
    const { id, batch, odds } = runBlock(script!, { createGenerator });
    expect(typeof id).toBe('bigint');
    expect(new Set([String(id), ...(batch as string[])]).size).toBe(101);
    expect(odds).toBeCloseTo(0.0431, 3);
  });
});
