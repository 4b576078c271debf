import { hostPorts, hostScope } from './host.js';

describe('the ports of this host', () => {
  const { clock, monotonic, randomness, timers } = hostPorts();

  it('read its clocks', () => {
    for (const [ours, hosts] of [
      [() => clock.now(), Date.now],
      [() => clock.refresh(), Date.now],
      [() => monotonic.now(), () => performance.now()],
    ] as const) {
      const before = hosts();
      const read = ours();
      expect(read).toBeGreaterThanOrEqual(before);
      expect(read).toBeLessThanOrEqual(hosts());
    }
  });

  it('draw fractions and tokens', () => {
    const fractions = Array.from({ length: 100 }, () => randomness.fraction());
    expect(fractions.every((each) => each >= 0 && each < 1)).toBe(true);
    const tokens = Array.from({ length: 100 }, () => randomness.token());
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[\da-z]+(-[\da-z]+){3}$/);
  });

  it('fire timers, unless they are cancelled', async () => {
    const fired: string[] = [];
    timers.setTimer(() => fired.push('cancelled'), 1, 'foreground').cancel();
    await new Promise<void>((resolve) => {
      timers.setTimer(() => fired.push('background'), 1, 'background');
      timers.setTimer(resolve, 5, 'foreground');
    });
    expect(fired).toEqual(['background']);
  });

  it('keep the process alive for a foreground timer only', () => {
    const made: { hasRef(): boolean }[] = [];
    const scope = hostScope();
    const spied = {
      ...{ performance: scope.performance, crypto: scope.crypto, clearTimeout: scope.clearTimeout },
      setTimeout: (callback: () => void, delayMs: number) => {
        const timer = setTimeout(callback, delayMs);
        made.push(timer);
        return timer;
      },
    };
    const both = (['background', 'foreground'] as const).map((kind) =>
      hostPorts(spied).timers.setTimer(() => undefined, 1_000, kind),
    );
    expect(made.map((timer) => timer.hasRef())).toEqual([false, true]);
    for (const timer of both) timer.cancel();
  });

  it('do with the numbers that timers are in browsers', () => {
    const scope = { ...hostScope(), setTimeout: () => 7, clearTimeout: jest.fn() };
    hostPorts(scope)
      .timers.setTimer(() => undefined, 1, 'background')
      .cancel();
    expect(scope.clearTimeout).toHaveBeenCalledWith(7);
  });

  it('are those of when this was loaded: fake timers change nothing', async () => {
    const [wallMs, monotonicMs] = [Date.now(), performance.now()];
    jest.useFakeTimers({ now: 0 });
    try {
      await new Promise<void>((resolve) => void timers.setTimer(resolve, 5, 'foreground'));
      expect(clock.now()).toBeGreaterThanOrEqual(wallMs);
      expect(clock.refresh()).toBeGreaterThanOrEqual(wallMs);
      expect(monotonic.now()).toBeGreaterThan(monotonicMs);
    } finally {
      jest.useRealTimers();
    }
  });
});
