import { ExactClock, TurnClock } from './system-clock.js';

describe('The clock', () => {
  let wall = 1_000;

  beforeEach(() => {
    wall = 1_000;
    jest.spyOn(Date, 'now').mockImplementation(() => wall++);
  });

  afterEach(() => jest.restoreAllMocks());

  it('of a turn is read once, and again in the next turn of the event loop', async () => {
    const clock = new TurnClock();
    expect([clock.now(), clock.now(), clock.now()]).toEqual([1_000, 1_000, 1_000]);
    await new Promise((resolve) => setImmediate(resolve));
    expect([clock.now(), clock.now()]).toEqual([1_001, 1_001]);
  });

  it('of a turn is read again after 256 calls: a loop that never lets go sees time pass', () => {
    const clock = new TurnClock();
    const values = Array.from({ length: 600 }, () => clock.now());
    expect(new Set(values.slice(0, 257))).toEqual(new Set([1_000]));
    expect(values[257]).toBe(1_001);
    expect(new Set(values).size).toBe(3);
  });

  it('of a turn is real when refreshed, and never older afterwards', () => {
    const clock = new TurnClock();
    clock.now();
    expect(clock.refresh()).toBe(1_001);
    expect(clock.now()).toBe(1_001);
  });

  it('that is exact is read at every call', () => {
    const clock = new ExactClock();
    expect([clock.now(), clock.now(), clock.refresh()]).toEqual([1_000, 1_001, 1_002]);
  });
});
