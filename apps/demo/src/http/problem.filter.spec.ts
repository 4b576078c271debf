import { Logger } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InvalidCodeError, NotReadyError, type RaindropError } from '@raindrop/core';
import { ProblemFilter } from './problem.filter.js';
import { problemOf } from './problem-of.js';

describe('ProblemFilter', () => {
  beforeAll(() => void Logger.overrideLogger(false));

  it.each<[RaindropError, number, string | undefined]>([
    [new NotReadyError('starting'), 503, '1'],
    [new InvalidCodeError(''), 400, undefined],
  ])('answers %s with status %d and Retry-After %s', async (error, status, retryAfter) => {
    const adapter = new FastifyAdapter();
    const filter = new ProblemFilter();
    adapter.getInstance().get('/', (request, reply) => filter.answer(error, request, reply));
    const answer = await adapter.inject('/');
    await adapter.close();
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.json()).toEqual(problemOf(error));
    expect(answer.headers['retry-after']).toBe(retryAfter);
  });
});
