import { RequestRate } from './request-rate.js';

const refused = (rate: RequestRate, address: string, ids?: number): object | undefined => {
  try {
    rate.count(address, ids);
    return undefined;
  } catch (error) {
    return (error as { told: object }).told;
  }
};

describe('RequestRate', () => {
  afterEach(() => jest.restoreAllMocks());

  it('counts each begun 1,000 IDs as a request', () => {
    const rate = new RequestRate(10);
    for (const ids of [1, 1_000, 1_001, 5_000]) expect(refused(rate, '192.0.2.1', ids)).toBeUndefined();
    expect(refused(rate, '192.0.2.1', 1_001)).toMatchObject({ errorCode: 'RATE_LIMITED', retryable: true });
    expect(refused(rate, '192.0.2.2', 10_000)).toBeUndefined();
  });

  it('says how many IDs a minute has to who wants more, and counts nothing', () => {
    const rate = new RequestRate(10);
    const detail = expect.stringContaining('count must be at most 10000:') as string;
    expect(refused(rate, '192.0.2.1', 10_001)).toEqual({ errorCode: 'INVALID_INPUT', detail });
    expect(refused(rate, '192.0.2.1', 10_000)).toBeUndefined();
  });

  it('counts the addresses of an IPv6 network as one, and begins anew with each minute', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(5_000);
    const rate = new RequestRate(2);
    expect([1, 2].map((host) => refused(rate, `2001:db8::${host}`))).toEqual([undefined, undefined]);
    now.mockReturnValue(12_001);
    expect(refused(rate, '2001:db8::3')).toMatchObject({ retryAfterSeconds: 53 });
    expect(refused(rate, '2001:db8:0:1::3')).toBeUndefined();
    now.mockReturnValue(65_000);
    expect(refused(rate, '2001:db8::3')).toBeUndefined();
  });

  it('does not fill the memory with addresses', () => {
    const rate = new RequestRate(1);
    for (let each = 0; each < 100_000; each++) rate.count(`192.0.${each >> 8}.${each & 255}`);
    expect(refused(rate, '192.0.0.0')).toBeUndefined();
    expect(refused(rate, '192.0.0.0')).toBeDefined();
  });
});
