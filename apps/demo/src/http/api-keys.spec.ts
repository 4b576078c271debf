import { ApiKeys } from './api-keys.js';
import { ProblemException } from '../problems/problem.exception.js';

const KEYS = ['first-key-0123456789', 'second-key-0123456789'];
const WORKERS_KEY = 'workers-key-0123456789';
const keys = new ApiKeys({ apiKeys: KEYS, apiKeysFor: 'workers', workersApiKeys: [] });
const none = new ApiKeys({ apiKeys: [], apiKeysFor: 'workers', workersApiKeys: [] });
const apart = new ApiKeys({ apiKeys: KEYS, apiKeysFor: 'all', workersApiKeys: [WORKERS_KEY] });

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
    expect(() => none.demandKey('')).toThrow(ProblemException);
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
    expect([KEYS[1], WORKERS_KEY, undefined].map((key) => statusOf(() => apart.demandKey(key)))).toEqual([
      ...[undefined, 403, 401],
    ]);
  });

  it('are not needed to be shown, but a wrong one is not passed over', () => {
    expect(keys.areShownBy({})).toBe(false);
    expect(() => keys.areShownBy({ 'x-api-key': 'wrong' })).toThrow(ProblemException);
  });
});
