import { Logger, NotFoundException } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InvalidCodeError, NotReadyError, type RaindropError } from '@raindrop/nestjs';
import { ProblemFilter } from './problem.filter.js';
import { problemOf } from './problem.js';

describe('ProblemFilter', () => {
  beforeAll(() => void Logger.overrideLogger(false));

  afterEach(() => jest.restoreAllMocks());

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
    const instance = expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/) as string;
    expect(answer.json()).toEqual({ ...problemOf(error), instance });
    expect(Object.keys(answer.json<object>()).slice(0, 5)).toEqual(['type', 'title', 'status', 'detail', 'instance']);
    expect(answer.headers['retry-after']).toBe(retryAfter);
  });

  it('logs what is not the client’s fault, with the instance that the client was told, and an outage once', async () => {
    const logged: string[] = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => void logged.push(String(message)));
    const adapter = new FastifyAdapter();
    const filter = new ProblemFilter();
    const errors = { '/ids': new NotReadyError('starting'), '/code': new InvalidCodeError('') };
    for (const [path, error] of Object.entries(errors)) {
      adapter.getInstance().get(path, (request, reply) => filter.answer(error, request, reply));
    }
    const first = (await adapter.inject('/ids?key=secret')).json<{ instance: string }>();
    for (let asked = 0; asked < 50; asked++) await adapter.inject('/ids');
    await adapter.inject('/code');
    await adapter.close();
    expect(logged).toEqual([expect.stringContaining(`NOT_READY at GET /ids, ${first.instance}: `)]);
  });

  it('answers 404 where a file of the page is gone, and 405 for a method that its address does not know', async () => {
    const adapter = new FastifyAdapter();
    const server = adapter.getInstance();
    const filter = new ProblemFilter(undefined, () => ['GET', 'HEAD']);
    server.get('/style.css', (_request, reply) => reply.callNotFound());
    server.setNotFoundHandler((request, reply) => filter.answer(new NotFoundException('gone'), request, reply));
    const [gone, wrong] = [
      await adapter.inject('/style.css'),
      await adapter.inject({ method: 'PUT', url: '/style.css' }),
    ];
    await adapter.close();
    expect(gone.json()).toMatchObject({ status: 404, errorCode: 'NOT_FOUND', detail: 'gone' });
    expect(wrong.json()).toMatchObject({ status: 405, errorCode: 'METHOD_NOT_ALLOWED' });
    expect([gone.headers['allow'], wrong.headers['allow']]).toEqual([undefined, 'GET, HEAD']);
  });
});
