import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { parseShardedId } from '@raindrop/core';
import { databaseKinds } from '../../support/servers/test-databases.js';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

describe.each(databaseKinds)('Numbers of the service on %s', (kind) => {
  let service: OpenService;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    service = await openService({}, kind);
    ({ app } = service);
  });

  afterAll(async () => {
    await service.close();
  });

  const post = async (url: string, body?: object): Promise<{ status: number; json: Record<string, unknown> }> => {
    const answer = await app.inject({ method: 'POST', url, ...(body !== undefined && { payload: body }) });
    return { status: answer.statusCode, json: answer.json() };
  };

  it('are dense by code, one or many', async () => {
    expect(await post('/v1/numbers/invoice')).toEqual({ status: 201, json: { numbers: ['1'] } });
    const { json } = await post('/v1/numbers/invoice?count=3000');
    expect(json['numbers']).toEqual(Array.from({ length: 3_000 }, (_, index) => String(index + 2)));
    expect(await post('/v1/numbers/ticket')).toEqual({ status: 201, json: { numbers: ['1'] } });
  });

  it('for the public are sharded by who asks', async () => {
    const { status, json } = await post('/v1/sharded-ids', { app: 1, gatePass: 'zhangsan' });
    expect(status).toBe(201);
    expect(parseShardedId(json['id'] as string)).toEqual({ index: 1n, shard: 12, app: 1 });
  });

  it('for invoices have no gap, each tenant its own', async () => {
    const next = (tenant?: string): ReturnType<typeof post> =>
      post('/v1/business-numbers', { series: 'invoice', ...(tenant !== undefined && { tenant }) });
    const year = new Date().getUTCFullYear();
    const many = await Promise.all(Array.from({ length: 20 }, () => next()));
    const texts = many.map(({ json }) => json['number'] as string);
    expect(texts.sort()).toEqual(
      Array.from({ length: 20 }, (_, index) => `INV-${year}-${String(index + 1).padStart(6, '0')}`),
    );
    expect((await next('acme')).json).toEqual({ number: `INV-${year}-000001` });
  });

  it.each([
    ['/v1/numbers/other', undefined, 400, 'INVALID_INPUT', 'code must be one of order, invoice, ticket'],
    ['/v1/numbers/order?count=0', undefined, 400, 'INVALID_INPUT', 'count must be an integer from 1 to 10000'],
    ['/v1/sharded-ids', { app: 256, gatePass: 'x' }, 400, 'INVALID_INPUT', 'app must be an integer from 0 to 255'],
    ['/v1/sharded-ids', { app: 1, gatePass: '' }, 400, 'INVALID_INPUT', 'gatePass must be a string of 1 to 512'],
    ['/v1/sharded-ids', { app: 7, gatePass: 'x' }, 404, 'UNKNOWN_APP', 'There is no app 7'],
    ['/v1/business-numbers', { series: 'receipt' }, 400, 'INVALID_INPUT', 'series must be one of invoice, credit-note'],
    [
      '/v1/business-numbers',
      { series: 'invoice', tenant: '' },
      400,
      'INVALID_INPUT',
      'tenant must be a string of 1 to 64',
    ],
  ])('refuses POST %s with %j', async (url, body, status, errorCode, message) => {
    expect(await post(url, body)).toEqual({
      status,
      json: problemLike(status, errorCode, message, errorCode === 'UNKNOWN_APP' ? { app: 7, legacyCode: -2 } : {}),
    });
  });

  it('have their own line in the health report', async () => {
    const { statusCode, body } = await app.inject('/health');
    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ details: { numbers: { status: 'up', service: 'numbers', codes: 3 } } });
  });
});
