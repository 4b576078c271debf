import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { codecs, LeaseLostError } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';
import { until } from '../../support/until.js';

/** More than the system keeps for a connection whose other end reads nothing. */
const UNREAD = 2_000_000;

/** What the system, the connection and the stream may hold of them: some 16 MB at 22 bytes each. */
const HELD_AT_MOST = 800_000;

const IDS_BEFORE_AN_ANSWER = 50_000;

const SLICES_BEFORE_AN_ANSWER = 20;

describe('A stream of IDs', () => {
  let service: OpenService;
  let ids: IdService;
  let underWay: number;

  beforeEach(async () => {
    service = await openService();
    ids = service.app.get(IdService);
    underWay = 0;
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await service.close();
  });

  const issued = (): number => ids.status().counters.issued;

  const open = async (query: string): Promise<IncomingMessage> => {
    const asked = request(`${service.url}/v1/ids/stream${query}`, { method: 'POST' });
    asked.on('error', () => undefined).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return answer.on('error', () => undefined);
  };

  const linesOf = async (answer: IncomingMessage): Promise<unknown[]> => {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().split('\n');
    expect(lines.pop()).toBe('');
    return lines.map((line): unknown => JSON.parse(line));
  };

  /** Lets {@link settled} know how many calls of a stream's wait for IDs. */
  const noteCalls = (): void => {
    const fill = ids.fillAsync.bind(ids);
    jest.spyOn(ids, 'fillAsync').mockImplementation((...given) => {
      underWay++;
      return fill(...given).finally(() => underWay--);
    });
  };

  /** Waits until no request for IDs is left, although others are served again and again. */
  const settled = async (): Promise<number> => {
    await until('the service to rest', async () => {
      const before = issued();
      for (let turn = 0; turn < 20; turn++) await fetch(`${service.url}/v1/status`);
      return underWay === 0 && issued() === before;
    });
    return issued();
  };

  it('has a line for each, all of them different and in order', async () => {
    const answer = await open('?count=100001&code=stream');
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const texts = (await linesOf(answer)) as string[];
    expect(texts).toHaveLength(100_001);
    const read = BigInt64Array.from(texts, BigInt);
    expect(read.every((id, index) => index === 0 || id > read[index - 1]!)).toBe(true);
    expect(issued()).toBe(100_001);
  });

  it('is written in any format', async () => {
    const lines = await linesOf(await open('?count=3&format=base62'));
    expect(lines).toEqual([1, 2, 3].map(() => expect.stringMatching(/^\w{10,11}$/) as string));
  });

  it('waits for a slow reader, and makes no more than is read', async () => {
    noteCalls();
    const answer = await open(`?count=${UNREAD}`);
    answer.pause();
    const held = await settled();
    expect(held).toBeLessThan(HELD_AT_MOST);
    const lines = await linesOf(answer);
    expect(lines).toHaveLength(UNREAD);
    expect(new Set(lines).size).toBe(UNREAD);
    expect(issued()).toBe(UNREAD);
  });

  it('ends when its reader is cut off', async () => {
    noteCalls();
    const answer = await open(`?count=${UNREAD}`);
    answer.pause();
    await settled();
    answer.destroy();
    const after = await settled();
    expect(after).toBeLessThan(HELD_AT_MOST);
    expect((await fetch(`${service.url}/v1/ids`, { method: 'POST' })).status).toBe(201);
  });

  it('keeps no client waiting: other requests are answered meanwhile', async () => {
    const answers = await Promise.all([open('?count=3000000'), open('?count=3000000&format=base58')]);
    for (const answer of answers) answer.resume();
    const between: number[] = [];
    while (answers.some((answer) => !answer.complete) && between.length < 300) {
      const before = issued();
      expect((await fetch(`${service.url}/v1/status`)).status).toBe(200);
      between.push(issued() - before);
    }
    expect(between.length).toBeGreaterThan(20);
    // IDs that were made before an answer: a few slices, of millions.
    expect(between.sort((a, b) => a - b)[Math.floor(between.length / 2)]).toBeLessThan(IDS_BEFORE_AN_ANSWER);
  });

  it('leaves the others their part of its code, and of the event loop, beside seven more', async () => {
    for (const code of ['busy', 'another']) await fetch(`${service.url}/v1/ids?code=${code}`, { method: 'POST' });
    const waited = jest.spyOn(ids, 'nextIdsAsync');
    const answers = await Promise.all(Array.from({ length: 8 }, () => open('?count=10000000&code=busy')));
    for (const answer of answers) answer.resume();
    const between: number[] = [];
    // More than a second: a tick in which streams alone would use up the code.
    while (between.length < 300 || issued() < 200_000) {
      const before = issued();
      const code = between.length % 2 === 0 ? 'busy' : 'another';
      expect((await fetch(`${service.url}/v1/ids?count=10&code=${code}`, { method: 'POST' })).status).toBe(201);
      between.push(issued() - before);
    }
    // No call had to wait for the next tick.
    expect(waited).not.toHaveBeenCalled();
    between.sort((a, b) => a - b);
    // IDs that were made before an answer: a few slices, of the eight that would want to be first.
    expect(between[Math.floor(between.length * 0.9)]).toBeLessThan(SLICES_BEFORE_AN_ANSWER * 500);
    for (const answer of answers) answer.destroy();
  });

  it('is refused where one address has eight, until one of them ends', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => open('?count=10000000')));
    const more = (): Promise<Response> => fetch(`${service.url}/v1/ids/stream?count=1`, { method: 'POST' });
    const refused = await more();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    const told = { retryable: true, retryAfterSeconds: 5 };
    expect(await refused.json()).toEqual(problemLike(429, 'TOO_MANY_STREAMS', 'More than 8 streams', told));
    answers[0]!.destroy();
    await until('a place', async () => (await more()).status === 201);
    expect((await more()).status).toBe(201);
    for (const answer of answers) answer.destroy();
    await until('all places', async () => {
      const all = await Promise.all(Array.from({ length: 8 }, more));
      return all.every(({ status }) => status === 201);
    });
  });

  it('that fails midway ends with a problem in its last line', async () => {
    let slices = 0;
    const fill = ids.fillAsync.bind(ids);
    jest.spyOn(ids, 'fillAsync').mockImplementation((...given) => {
      return ++slices === 3 ? Promise.reject(new LeaseLostError(5, 'the database is away')) : fill(...given);
    });
    const lines = await linesOf(await open('?count=100000'));
    expect(lines).toHaveLength(1_001);
    const detail = 'No ID can be issued right now';
    expect(lines.at(-1)).toEqual({ error: problemLike(503, 'LEASE_LOST', detail, { retryable: true, workerId: 5 }) });
  });

  it('that fails at once is a problem and no stream', async () => {
    jest.spyOn(ids, 'fillAsync').mockRejectedValue(new LeaseLostError(5, 'the database is away'));
    const answer = await fetch(`${service.url}/v1/ids/stream`, { method: 'POST' });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it('ends, and says so, when the service closes', async () => {
    noteCalls();
    const answer = await open(`?count=${UNREAD}`);
    answer.pause();
    await settled();
    const closed = service.app.close();
    const lines = await linesOf(answer);
    await closed;
    expect(lines.length).toBeLessThan(HELD_AT_MOST);
    expect(lines.at(-1)).toEqual({ error: problemLike(503, 'SHUTTING_DOWN', 'shutting down', { retryable: true }) });
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('and batches in any format hold all that was asked for, in order', async () => {
    const answer = await fetch(`${service.url}/v1/ids?count=10000&format=base58`, { method: 'POST' });
    const { ids: texts } = (await answer.json()) as { ids: string[] };
    const read = texts.map((text) => codecs.base58.decode(text));
    expect(read).toHaveLength(10_000);
    expect(read.every((id, index) => index === 0 || id > read[index - 1]!)).toBe(true);
  });

  it('or a batch for which no client waits any more is not made', async () => {
    const next = ids.nextIdsAsync.bind(ids);
    const signals: { readonly aborted: boolean }[] = [];
    let begin!: () => void;
    const gate = new Promise<void>((open) => (begin = open));
    const calls: Promise<bigint[]>[] = [];
    jest.spyOn(ids, 'nextIdsAsync').mockImplementation((count, code, options) => {
      signals.push(options!.signal!);
      calls.push(gate.then(() => next(count, code, options)));
      return calls.at(-1)!;
    });
    const asked = Array.from({ length: 90 }, () => {
      return request(`${service.url}/v1/ids?count=10000&code=gone`, { method: 'POST' })
        .on('error', () => undefined)
        .end();
    });
    await until('all to be under way', () => signals.length === asked.length);
    for (const each of asked) each.destroy();
    await until('the service to know', () => signals.every(({ aborted }) => aborted));
    begin();
    const outcomes = await Promise.allSettled(calls);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(issued()).toBe(0);
    expect((await fetch(`${service.url}/v1/ids`, { method: 'POST' })).status).toBe(201);
  });

  it.each([
    ['?count=0', 'count must be an integer from 1 to 10000000'],
    ['?count=10000001', 'count must be an integer from 1 to 10000000'],
    ['?format=roman', 'format must be one of'],
    ['?code=', 'code must be a string'],
  ])('is refused for %s', async (query, detail) => {
    const answer = await fetch(`${service.url}/v1/ids/stream${query}`, { method: 'POST' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual(problemLike(400, 'INVALID_INPUT', detail));
  });
});
