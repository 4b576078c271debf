import { IdService, NotReadyError } from '@raindrop/nestjs';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

/** What differs between any two requests. */
const OF_ONE_REQUEST = ['date', 'content-length', 'x-request-id'];

describe('POST /v1/ids', () => {
  let service: OpenService;
  let ids: IdService;

  beforeAll(async () => {
    service = await openService();
    ids = service.app.get(IdService);
  });

  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => service.close());

  const ask = async (query: string): Promise<{ status: number; headers: object; text: string }> => {
    const answer = await fetch(`${service.url}/v1/ids?${query}`, { method: 'POST' });
    const headers = [...answer.headers].filter(([name]) => !OF_ONE_REQUEST.includes(name));
    return { status: answer.status, headers: Object.fromEntries(headers), text: await answer.text() };
  };

  it.each<[string, number, 'at once' | 'in turns']>([
    ['', 1, 'at once'],
    ['code=order', 1, 'at once'],
    ['count=1', 1, 'at once'],
    ['count=2&format=decimal', 2, 'at once'],
    ['count=999&code=order', 999, 'at once'],
    ['count=1000', 1_000, 'at once'],
    ['count=1001', 1_001, 'in turns'],
    ['count=10000', 10_000, 'in turns'],
  ])('?%s: %d IDs, %s, and alike after waiting', async (query, count, way) => {
    const inTurns = jest.spyOn(ids, 'nextIdsAsync');
    const usual = await ask(query);
    expect(inTurns).toHaveBeenCalledTimes(way === 'at once' ? 0 : 1);
    const none = (): never => {
      throw new NotReadyError('starting');
    };
    jest.spyOn(ids, 'nextString').mockImplementation(none);
    jest.spyOn(ids, 'fill').mockImplementation(none);
    inTurns.mockClear();
    const waited = await ask(query);
    expect(inTurns).toHaveBeenCalledTimes(1);

    expect([usual.status, usual.headers]).toEqual([201, waited.headers]);
    expect(waited.status).toBe(201);
    const [one, other] = [usual, waited].map(({ text }) => (JSON.parse(text) as { ids: string[] }).ids);
    for (const each of [one!, other!]) {
      expect(each).toHaveLength(count);
      expect(each.every((id) => /^[1-9]\d{0,18}$/.test(id))).toBe(true);
    }
    expect(new Set([...one!, ...other!]).size).toBe(2 * count);
    // The same bytes around the IDs.
    expect(usual.text.replaceAll(/\d+/g, '')).toBe(waited.text.replaceAll(/\d+/g, ''));
  });

  it.each([
    ['count=0', 'count must be an integer from 1 to 10000'],
    ['count=-1', 'count must be an integer from 1 to 10000'],
    ['count=1e3', 'count must be an integer from 1 to 10000'],
    ['count=%205', 'count must be an integer from 1 to 10000'],
    ['count=10001', 'count must be an integer from 1 to 10000'],
    ['count=', 'count must be an integer from 1 to 10000'],
    ['count=1&count=2', '"count" is given more than once'],
    ['code=', 'code must be a string of 1 to 128 characters'],
    [`code=${'x'.repeat(129)}`, 'code must be a string of 1 to 128 characters'],
    ['code=a&code=b', '"code" is given more than once'],
    ['format=', 'format must be one of decimal,'],
    ['format=toString', 'format must be one of decimal,'],
    ['colour=red', '"colour" is unknown; legal: count, code, format'],
    ['toString=1', '"toString" is unknown; legal: count, code, format'],
    ['__proto__=1', '"__proto__" is unknown; legal: count, code, format'],
    ['colour=red&count=0', '"colour" is unknown; legal: count, code, format; count must be an integer from 1'],
  ])('?%s is refused', async (query, detail) => {
    const { status, text } = await ask(query);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual(problemLike(400, 'INVALID_INPUT', detail));
  });

  // The last one: nothing is issued after that.
  it('of a service that issues nothing is a failure', async () => {
    await ids.close();
    const { status, text } = await ask('count=5');
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual(problemLike(500, 'CLOSED', ''));
  });
});
