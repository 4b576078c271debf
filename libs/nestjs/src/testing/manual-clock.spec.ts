import { ConfigurationError } from '@raindrop/core';
import { ManualClock } from './manual-clock.js';

const START = Date.UTC(2026, 0, 1);

describe('The manual clock', () => {
  let sets = 0;
  let clock: ManualClock;

  beforeEach(() => {
    sets = 0;
    clock = new ManualClock(START, () => sets++);
  });

  it('stands still until it is advanced', async () => {
    expect([clock.now(), clock.refresh(), clock.monotonic.now()]).toEqual([START, START, 0]);
    await clock.advance(1_500);
    expect([clock.now(), clock.refresh(), clock.monotonic.now()]).toEqual([START + 1_500, START + 1_500, 1_500]);
  });

  it.each([
    [new Date('2025-06-01T12:00:00Z'), '2025-06-01T12:00:00.000Z'],
    [Date.UTC(2030, 1, 3), '2030-02-03T00:00:00.000Z'],
    ['2030-02-03', '2030-02-03T00:00:00.000Z'],
    ['2030-02-03T04:05:06.789+02:00', '2030-02-03T02:05:06.789Z'],
  ])('is set to %p without any time passing', (moment, expected) => {
    clock.set(moment);
    expect(new Date(clock.now()).toISOString()).toBe(expected);
    expect(clock.monotonic.now()).toBe(0);
    expect(sets).toBe(1);
  });

  it.each(['2030-02-03T04:05:06', 'tomorrow', '', Number.NaN, 1.5, 9e15, new Date(Number.NaN), null])(
    'refuses to be set to %p',
    (moment) => {
      expect(() => clock.set(moment as string)).toThrow(ConfigurationError);
      expect(() => clock.set(moment as string)).toThrow('clock.set');
      expect([clock.now(), sets]).toEqual([START, 0]);
    },
  );

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5'])('refuses to advance by %p, at once', (ms) => {
    expect(() => clock.advance(ms as number)).toThrow('clock.advance');
  });

  it('fires timers at their moments, in order, and those that they set', async () => {
    const story: string[] = [];
    const at = (name: string, ms: number, then?: () => void): void => {
      clock.setTimer(() => {
        story.push(`${name} ${clock.monotonic.now()}`);
        then?.();
      }, ms);
    };
    at('late', 300);
    at('first', 100, () => at('nested', 50));
    at('second', 100);
    clock.setTimer(() => story.push('cancelled'), 100).cancel();
    at('beyond', 1_001);
    await clock.advance(1_000);
    expect(story).toEqual(['first 100', 'second 100', 'nested 150', 'late 300']);
    expect(clock.now()).toBe(START + 1_000);
  });

  it('fires timers that a call sets only after a few promises', async () => {
    let fired = 0;
    const called = (async (): Promise<void> => {
      for (let step = 0; step < 50; step++) await Promise.resolve();
      clock.setTimer(() => (fired = clock.monotonic.now()), 100);
    })();
    await clock.advance(1_000);
    await called;
    expect(fired).toBe(100);
  });

  it('fires a timer without delay by itself, unless it is cancelled', async () => {
    clock.setTimer(() => sets++, 0).cancel();
    await new Promise<void>((resolve) => clock.setTimer(resolve, 0));
    expect([clock.now(), sets]).toEqual([START, 0]);
  });

  it('adds up what is advanced at once', async () => {
    await Promise.all([clock.advance(1_000), clock.advance(500)]);
    expect(clock.now()).toBe(START + 1_500);
  });

  it('passes while the test runner fakes its timers', async () => {
    jest.useFakeTimers();
    try {
      let fired = false;
      clock.setTimer(() => (fired = true), 10);
      await clock.advance(10);
      expect(fired).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });
});
