import { ApiKeys } from './api-keys.js';
import { ProblemException } from '../problems/problem.js';

const KEYS = ['first-key-0123456789', 'second-key-0123456789'];
const WORKERS_KEY = 'workers-key-0123456789';
const PUBLIC = { host: '0.0.0.0', trustProxy: 0 };
const keys = new ApiKeys({ apiKeys: KEYS, apiKeysFor: 'workers', workersApiKeys: [], ...PUBLIC });
const none = new ApiKeys({ apiKeys: [], apiKeysFor: 'workers', workersApiKeys: [], ...PUBLIC });
const apart = new ApiKeys({ apiKeys: KEYS, apiKeysFor: 'all', workersApiKeys: [WORKERS_KEY], ...PUBLIC });

describe('Without any keys', () => {
  const local = { apiKeys: [], apiKeysFor: 'workers', workersApiKeys: [], host: '127.0.0.1', trustProxy: 0 } as const;

  it.each(['127.0.0.1', 'localhost', '::1'])('the workers are shown on %s', (host) => {
    const open = new ApiKeys({ ...local, host });
    expect([open.areNotNeededBy({}), open.areShownBy({}), open.mayShow({})]).toEqual([true, true, true]);
  });

  it.each([
    ['on every network', { host: '0.0.0.0' }],
    ['on a name', { host: 'ids.internal' }],
    ['behind a proxy that is trusted', { trustProxy: 1 }],
    ['with keys', { apiKeys: KEYS }],
    ['with keys for the workers alone', { workersApiKeys: KEYS }],
  ])('but not %s', (_, other) => {
    const closed = new ApiKeys({ ...local, ...other });
    expect([closed.areNotNeededBy({}), closed.areShownBy({}), closed.mayShow({})]).toEqual([false, false, false]);
  });

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via', 'cf-connecting-ip'])(
    'nor to who comes through a proxy that says %s',
    (header) => {
      for (const value of ['192.0.2.1', '']) expect(new ApiKeys(local).areNotNeededBy({ [header]: value })).toBe(false);
    },
  );
});

describe('ApiKeys', () => {
  it.each(KEYS)('accept %s in either header', (key) => {
    expect(() => keys.demand({ authorization: `Bearer ${key}` })).not.toThrow();
    expect(() => keys.demand({ authorization: `bearer  ${key}` })).not.toThrow();
    expect(() => keys.demand({ 'x-api-key': key })).not.toThrow();
    expect(keys.areShownBy({ 'x-api-key': key })).toBe(true);
  });

  it.each([
    [{}],
    [{ 'x-api-key': '' }],
    [{ 'x-api-key': KEYS[0]!.slice(1) }],
    [{ 'x-api-key': `${KEYS[0]}x` }],
    [{ 'x-api-key': KEYS.join(',') }],
    [{ 'x-api-key': KEYS as unknown as string }],
    [{ authorization: KEYS[0] }],
    [{ authorization: `Basic ${KEYS[0]}` }],
    [{ authorization: `Bearer ${KEYS[0]} x` }],
    [{ authorization: 'Bearer wrong', 'x-api-key': KEYS[0] }],
  ])('refuse %j', (headers) => {
    expect(() => keys.demand(headers)).toThrow(ProblemException);
  });

  it('accept nothing when there are none', () => {
    expect(none.areConfigured).toBe(false);
    expect(() => none.demand({ 'x-api-key': '' })).toThrow(ProblemException);
    expect(none.areShownBy({ 'x-api-key': KEYS[0] })).toBe(false);
    expect(() => none.demand({})).toThrow(ProblemException);
  });

  it('are of one scope or the other when the workers have keys of their own', () => {
    const [call, workers, wrong] = [KEYS[0]!, WORKERS_KEY, `${WORKERS_KEY}x`].map((key) => ({ 'x-api-key': key }));
    const statusOf = (demand: () => void): number | undefined => {
      try {
        demand();
        return undefined;
      } catch (error) {
        return (error as ProblemException).getStatus();
      }
    };
    expect([call, workers, wrong].map((each) => statusOf(() => apart.demand(each!)))).toEqual([undefined, 403, 401]);
    expect([call, workers, wrong].map((each) => statusOf(() => apart.demandForWorkers(each!)))).toEqual([
      ...[403, undefined, 401],
    ]);
    expect([apart.areShownBy(call!), apart.areShownBy(workers!)]).toEqual([false, true]);
    expect(statusOf(() => apart.areShownBy(wrong!))).toBe(401);
    expect(
      [KEYS[1], WORKERS_KEY, undefined].map((key) =>
        statusOf(() => apart.demand(key === undefined ? {} : { 'x-api-key': key })),
      ),
    ).toEqual([...[undefined, 403, 401]]);
  });

  it('are not needed to be shown, but a wrong one is not passed over', () => {
    expect(keys.areShownBy({})).toBe(false);
    expect(() => keys.areShownBy({ 'x-api-key': 'wrong' })).toThrow(ProblemException);
  });
});
