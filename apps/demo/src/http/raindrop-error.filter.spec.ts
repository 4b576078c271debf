import { Logger } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  ClosedError,
  InvalidBatchError,
  InvalidCodeError,
  InvalidIdError,
  LeaseLostError,
  NotReadyError,
  RaindropError,
  StoreUnavailableError,
  WaitTimeoutError,
} from '@raindrop/core';
import { bodyOf, RaindropErrorFilter } from './raindrop-error.filter.js';

describe('bodyOf', () => {
  const driver = new StoreUnavailableError('renew', new Error('Access denied for user root'));

  it.each<[RaindropError, number, string]>([
    [new InvalidIdError('decimal', 'x', 'digits'), 400, 'INVALID_ID'],
    [new InvalidBatchError(0, 100), 400, 'INVALID_BATCH'],
    [new InvalidCodeError(''), 400, 'INVALID_CODE'],
    [new NotReadyError('starting'), 503, 'NOT_READY'],
    [new LeaseLostError(3, 'Access denied for user root'), 503, 'LEASE_LOST'],
    [driver, 503, 'STORE_UNAVAILABLE'],
    [new WaitTimeoutError(5_000, driver), 503, 'WAIT_TIMEOUT'],
    [new ClosedError(), 500, 'CLOSED'],
  ])('answers %s with %d', (error, statusCode, errorCode) => {
    const body = bodyOf(error);
    expect(body).toMatchObject({ statusCode, errorCode });
    expect(body.message === error.message).toBe(statusCode === 400);
    expect(JSON.stringify(body)).not.toContain('Access denied');
  });
});

describe('RaindropErrorFilter', () => {
  beforeAll(() => void Logger.overrideLogger(false));

  it.each<[RaindropError, number, number | undefined]>([
    [new NotReadyError('starting'), 503, 1],
    [new InvalidCodeError(''), 400, undefined],
  ])('answers %s with status %d and Retry-After %s', async (error, status, retryAfter) => {
    const adapter = new FastifyAdapter();
    const filter = new RaindropErrorFilter(adapter);
    adapter.getInstance().get('/', (request, reply) => {
      filter.catch(error, new ExecutionContextHost([request, reply]));
    });
    const answer = await adapter.inject('/');
    await adapter.close();
    expect(answer.statusCode).toBe(status);
    expect(JSON.parse(answer.body)).toEqual(bodyOf(error));
    expect(answer.headers['retry-after']).toBe(retryAfter?.toString());
  });
});
