import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SharedIds, type SharedIdRing } from '@raindrop/core/internal';
import type { SharedIdRingHandle } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { RaindropThreadModule } from '@raindrop/nestjs/threads';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { openSharedIds, sharedIdRing } from '@raindrop/node/threads';
import { until } from '../../support/until.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [producer, plain, nest] = typescriptBlocks(readDocument('docs/threads.md'));

/** In place of a thread: keeps what it was given. */
class Worker {
  constructor(
    readonly script: string,
    readonly options: { readonly workerData: { readonly ids: SharedIdRingHandle } },
  ) {}
}

interface Started {
  readonly worker: Worker;
  readonly ring: SharedIdRing;
}

function start(): Started {
  const { Importers } = runBlock(producer!, { IdService, Injectable, sharedIdRing, Worker, SharedIdRing: Object });
  const { ids } = createTestIdService({ now: Date.now() });
  const importers = new (Importers as new (ids: IdService) => { readonly ids: SharedIdRing; start(): Worker })(ids);
  return { worker: importers.start(), ring: importers.ids };
}

describe('docs/threads.md', () => {
  it('starts a thread that takes without Nest', async () => {
    const { worker, ring } = start();
    const { one, many, soon } = runBlock(plain!, { openSharedIds, workerData: worker.options.workerData });
    const taken = [BigInt(one as string), ...(many as bigint[]), await (soon as Promise<bigint>)];
    expect(new Set(taken).size).toBe(1_002);
    ring.close();
  });

  it('starts a thread that takes with Nest', async () => {
    const { worker, ring } = start();
    const scope = { Injectable, Module, RaindropThreadModule, SharedIds, workerData: worker.options.workerData };
    const { ImporterModule, Importer } = runBlock(nest!, scope) as Record<string, new () => { number(): string }>;
    const app = await Test.createTestingModule({ imports: [ImporterModule!], providers: [Importer!] }).compile();
    // Here the producer is this thread itself, which has compiled Nest meanwhile.
    const number = (): string => app.get(Importer!).number();
    expect(BigInt(await until('the producer to be heard of', number))).toBeGreaterThan(0n);
    await app.close();
    ring.close();
  });
});
