import { wallClock } from '@raindrop/core/internal';
import { ExactClock, TurnClock } from './system-ports.js';

describe('The clock', () => {
  let wall = 1_000;

  beforeEach(() => {
    wall = 1_000;
    jest.spyOn(wallClock, 'now').mockImplementation(() => wall++);
  });

  afterEach(() => jest.restoreAllMocks());

  it('of a turn is shared by 256 calls, and dropped when the turn has ended', async () => {
    const clock = new TurnClock();
    const stale = jest.fn();
    expect(clock.share(stale)).toBe(256);
    expect([clock.refresh(), clock.now()]).toEqual([1_000, 1_001]);
    expect(stale).not.toHaveBeenCalled();
    await new Promise((resolve) => setImmediate(resolve));
    expect(stale).toHaveBeenCalledTimes(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stale).toHaveBeenCalledTimes(1);
  });

  it('that is exact is read at every call', () => {
    const clock = new ExactClock();
    expect([clock.now(), clock.now(), clock.refresh()]).toEqual([1_000, 1_001, 1_002]);
  });
});
