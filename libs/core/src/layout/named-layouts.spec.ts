import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { createLayout, DEFAULT_LAYOUT, LASTING_LAYOUT, numberLayout } from './layout-options.js';
import { planLayout } from './layout-advice.js';

const NOW = Date.parse('2026-11-21T05:06:58Z');
const EPOCH = '2026-01-01';

describe('the layout of options that name none', () => {
  it('is 33 bits of seconds, 10 worker bits and 1 end bit from 2026 on', () => {
    const options = { startTimeStamp: EPOCH, timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
    expect(DEFAULT_LAYOUT.fingerprint).toBe(createLayout(options, NOW).fingerprint);
  });

  // Processes of two releases have to make the same IDs here: this text is what holds them to it.
  it('never changes where the source of worker ids cannot remember layouts', () => {
    expect(LASTING_LAYOUT.fingerprint).toBe('1000@1767225600:t33.w10.b1.s18.e1=0');
  });
});

describe("layout: 'number'", () => {
  const full = createLayout({ startTimeStamp: EPOCH, timeStampLength: 40, workIdLength: 8, endBitsLength: 1 }, NOW);
  const end = numberLayout().expiresAt!.getTime();

  // The name stands for these bits, in every release.
  it('never changes', () => {
    expect(numberLayout().fingerprint).toBe('1000@1767225600:t30.w8.b1.s13.e1=0');
  });

  it('has the IDs of 40 timestamp, 8 worker and 1 end bits, up to 2^53 - 1', () => {
    const parts = { tick: 28_012_018, workerId: 35, clockBack: 1, sequence: 77 };
    expect(numberLayout().pack(parts)).toBe(full.pack(parts));
    const last = { tick: 2 ** 30 - 1, workerId: 255, clockBack: 1, sequence: 8_191, endBits: 1 };
    expect(numberLayout().pack(last)).toBe(2n ** 53n - 1n);
    expect(full.safeUntil).toEqual(numberLayout().expiresAt);
  });

  it('takes an epoch and an end value beside it, and no other bits', () => {
    const plan = (more: object): string => planLayout({ layout: 'number', ...more }, NOW).fingerprint;
    expect(plan({ startTimeStamp: '2026-11-20', endBitsValue: 1 })).toBe('1000@1795132800:t30.w8.b1.s13.e1=1');
    expect(() => plan({ workIdLength: 9 })).toThrow('workIdLength = 9: cannot be given together with layout');
    expect(() => plan({ endBitsValue: 2 })).toThrow('an integer from 0 to 1');
    expect(() => plan({ startTimeStamp: '2040-01-01' })).toThrow('lies in the future');
    expect(() => planLayout({ layout: 'numbers' as 'number' }, NOW)).toThrow(`must be 'number', or a Layout`);
  });

  it('issues exact numbers to the last second, and then nothing in any form', async () => {
    const time = new VirtualTime(end - 1_000);
    const setup = { layout: numberLayout(), tenure: new StaticTenure(255), options: { onExhausted: 'wait' as const } };
    const ids = new SnowflakeGenerator(setup, time);
    expect(ids.nextNumber()).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
    expect(ids.nextNumber()).toBe(Number(ids.nextId()) - 2);
    time.step(1_000);
    const refused = expect.objectContaining({ errorCode: 'TIMESTAMP_OVERFLOW', retryable: false }) as Error;
    for (const call of [
      () => ids.nextNumber(),
      () => ids.nextId(),
      () => ids.nextString(),
      () => ids.nextIds(1),
      () => ids.fill(new BigInt64Array(1)),
    ]) {
      expect(call).toThrow(refused);
    }
    await expect(ids.nextIdAsync()).rejects.toEqual(refused);
    expect(ids.refusal()).toEqual(refused);
  });

  // The control: without the end, the IDs go on and are exact no more.
  it('would go past 2^53 - 1 with all its timestamp bits', () => {
    const time = new VirtualTime(end);
    const ids = new SnowflakeGenerator({ layout: full, tenure: new StaticTenure(255) }, time);
    expect(ids.nextId()).toBeGreaterThan(2n ** 53n - 1n);
  });
});
