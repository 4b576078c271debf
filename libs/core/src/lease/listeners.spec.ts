import { KeeperBench } from '../../../../test/support/engine/keeper-bench.js';

const LISTENERS: readonly (readonly [how: string, listener: () => unknown])[] = [
  [
    'throw',
    () => {
      throw new Error('pager is down');
    },
  ],
  ['reject', () => Promise.reject(new Error('pager is down'))],
  [
    'answer what throws when it is looked at',
    () =>
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('pager is down');
        },
      }),
  ],
];

describe('Listeners of a lease', () => {
  const unhandled = jest.fn();
  beforeAll(() => process.on('unhandledRejection', unhandled));
  afterAll(() => process.off('unhandledRejection', unhandled));

  it.each(LISTENERS)('that %s end no renewals, no start and no release', async (_, listener) => {
    const bench = new KeeperBench({ layout: { serviceMaxWorkId: 1 }, onEvent: listener });
    bench.keeper.onChange(listener);
    await bench.keeper.start();
    await bench.advance(30_000);
    bench.store.faultFor = () => ({ kind: 'refused' });
    await bench.advance(90_000);
    expect(bench.keeper.status().state).toBe('lost');
    bench.store.faultFor = () => undefined;
    await bench.advance(90_000);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', lastError: undefined });
    expect(bench.story).toContain('lease-lost');
    expect(bench.story.at(-1)).toBe('lease-regained');
    const closing = bench.keeper.close();
    await bench.advance(1_000);
    await closing;
    expect(bench.database.row(1).token).toBe('');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  });
});
