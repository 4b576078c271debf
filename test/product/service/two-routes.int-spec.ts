import { IdService } from '@raindrop/nestjs';
import { openService, type OpenService } from './open-service.js';

/** A query that says `format=decimal` asks for what is usual anyway, and is left to the controller. */
const BY_CONTROLLER = 'format=decimal';

/** What differs between any two requests. */
const OF_ONE_REQUEST = ['date', 'content-length', 'x-request-id'];

describe('POST /v1/ids is answered alike at once and by the controller', () => {
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
    ['count=2', 2, 'at once'],
    ['count=999&code=order', 999, 'at once'],
    ['count=1000', 1_000, 'at once'],
    ['count=1001', 1_001, 'in turns'],
    ['count=10000', 10_000, 'in turns'],
  ])('?%s: %d IDs, %s', async (query, count, way) => {
    const inTurns = jest.spyOn(ids, 'nextIdsAsync');
    // The code is known from here on: a new one is the controller's.
    const controlled = await ask(`${query}&${BY_CONTROLLER}`);
    expect(inTurns).toHaveBeenCalledTimes(1);
    inTurns.mockClear();
    const usual = await ask(query);
    expect(inTurns).toHaveBeenCalledTimes(way === 'at once' ? 0 : 1);

    expect([usual.status, usual.headers]).toEqual([201, controlled.headers]);
    expect(controlled.status).toBe(201);
    const [one, other] = [usual, controlled].map(({ text }) => (JSON.parse(text) as { ids: string[] }).ids);
    for (const each of [one!, other!]) {
      expect(each).toHaveLength(count);
      expect(each.every((id) => /^[1-9]\d{0,18}$/.test(id))).toBe(true);
    }
    expect(new Set([...one!, ...other!]).size).toBe(2 * count);
    // The same bytes around the IDs.
    expect(usual.text.replaceAll(/\d+/g, '')).toBe(controlled.text.replaceAll(/\d+/g, ''));
  });

  it.each([
    'count=0',
    'count=-1',
    'count=1e3',
    'count=10001',
    'count=',
    'count=1&count=2',
    'code=',
    `code=${'x'.repeat(129)}`,
    'code=a&code=b',
    'colour=red',
  ])('?%s is refused', async (query) => {
    const [usual, controlled] = [await ask(query), await ask(`${query}&${BY_CONTROLLER}`)];
    expect(usual).toMatchObject({ status: 400, headers: controlled.headers });
    expect(problemIn(usual.text)).toEqual(problemIn(controlled.text));
    expect(problemIn(usual.text)).toMatchObject({ errorCode: 'INVALID_INPUT' });
  });

  // The last one: nothing is issued after that.
  it('a service that issues nothing', async () => {
    await ids.close();
    const [usual, controlled] = [await ask('count=5'), await ask(`count=5&${BY_CONTROLLER}`)];
    expect(usual).toMatchObject({ status: 500, headers: controlled.headers });
    expect(problemIn(usual.text)).toEqual(problemIn(controlled.text));
  });
});

/** Each occurrence of a problem has a name of its own. */
function problemIn(text: string): object {
  return { ...(JSON.parse(text) as object), instance: undefined };
}
