import type { AddressInfo, Server } from 'node:net';
import { Controller, Headers, Module, Post, Query, Res, UseFilters, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdService, RaindropExceptionFilter, RaindropModule } from '@raindrop/nestjs';
import { remoteIds, remoteIdsHeaders, type RemoteIdsOptions } from '@raindrop/node/remote';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { openIdService } from '@raindrop/node';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [overHttp, alone, ofYourOwn] = typescriptBlocks(readDocument('docs/service.md#the-remote-client'));

let service: NestFastifyApplication;
let url: string;
beforeAll(async () => {
  const scope = {
    Controller,
    Headers,
    Post,
    Query,
    Res,
    UseFilters,
    IdService,
    RaindropExceptionFilter,
    remoteIdsHeaders,
  };
  const IdsController = runBlock(ofYourOwn!, scope)['IdsController'] as Type;
  const { ids } = createTestIdService({ now: Date.now() });

  @Module({ controllers: [IdsController], providers: [{ provide: IdService, useValue: ids }] })
  class Service {}

  service = await NestFactory.create<NestFastifyApplication>(Service, new FastifyAdapter(), { logger: false });
  await service.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${((service.getHttpServer() as Server).address() as AddressInfo).port}`;
});
afterAll(() => service.close());

describe('docs/service.md#the-remote-client', () => {
  it('has a client in an application, and a service of one’s own', async () => {
    const here = (options: RemoteIdsOptions): unknown => remoteIds({ ...options, url });
    const { AppModule } = runBlock(overHttp!, { Module, RaindropModule, remoteIds: here, process: { env: {} } });
    const app = await NestFactory.createApplicationContext(AppModule as Type, { logger: false });
    const ids = app.get(IdService);
    expect(ids.layout.fingerprint).toBe(service.get(IdService).layout.fingerprint);
    expect(ids.parse(ids.nextId()).workerId).toBe(service.get(IdService).workerId);
    await app.close();
  });

  it.each(['', '?count=x', '?count=0', '?count=100000000', '?count=1&code='])(
    'has a service of one’s own that refuses %j as problem details',
    async (query) => {
      const answer = await fetch(`${url}/v1/ids${query}`, { method: 'POST' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        400,
        expect.stringMatching(/^application\/problem\+json\b/),
      ]);
    },
  );

  it('has one without the module', async () => {
    const here = (options: RemoteIdsOptions): unknown => remoteIds({ ...options, url });
    const { number } = runBlock(alone!, { remoteIds: here, openIdService });
    expect(new Set(await (number as () => Promise<string[]>)()).size).toBe(100);
  });
});
