import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { Layout, shapeOfFingerprint } from './layout.js';
import { createLayout, type LayoutOptions } from './layout-options.js';

const now = Date.UTC(2023, 5, 1);
const options: LayoutOptions = { startTimeStamp: '2023-01-01', timeStampLength: 33, workIdLength: 10 };

describe('a fingerprint', () => {
  it.each([
    [{ endBitsLength: 1 }, '1000@1672531200:t33.w10.b1.s18.e1=0'],
    [{ endBitsLength: 5, endBitsValue: 17 }, '1000@1672531200:t33.w10.b1.s14.e5=17'],
    [{}, '1000@1672531200:t33.w10.b1.s19'],
    [{ timeUnit: 'millisecond', timeStampLength: 41 }, '1@1672531200000:t41.w10.b1.s11'],
    [{ timeUnit: 'day', timeStampLength: 15, workIdLength: 3 }, '86400000@19358:t15.w3.b1.s44'],
    [{ startTimeStamp: '1969-12-31T23:59:58.500Z' }, '1000@-2:t33.w10.b1.s19'],
  ] as [Partial<LayoutOptions>, string][])('of %p is %s', (changes, fingerprint) => {
    expect(createLayout({ ...options, ...changes }, now).fingerprint).toBe(fingerprint);
  });

  it.each([
    { startTimeStamp: '2023-01-01T00:00:00.999Z' },
    { startTimeStamp: new Date('2023-01-01') },
    { serviceMinWorkId: 5, serviceMaxWorkId: 9 },
    { timeBackBitValue: 1 as const },
    { timeUnit: 'SECOND' as 'second' },
    { minLifetimeDays: 3 },
  ])('does not depend on what the IDs do not depend on: %p', (changes) => {
    expect(createLayout({ ...options, ...changes }, now).fingerprint).toBe('1000@1672531200:t33.w10.b1.s19');
  });

  it('is equal exactly when unit, epoch tick, lengths and end bits are', () => {
    const few: fc.Arbitrary<LayoutOptions> = fc
      .record({
        timeUnit: fc.constantFrom(2 as const, 3 as const),
        startTimeStamp: fc.constantFrom(
          '2023-01-01T00:00:00.000Z',
          '2023-01-01T00:00:00.999Z',
          '2023-01-01T00:00:59.999Z',
          '2023-01-01T00:01:00.000Z',
        ),
        timeStampLength: fc.integer({ min: 31, max: 32 }),
        workIdLength: fc.integer({ min: 3, max: 4 }),
        endBitsLength: fc.integer({ min: 0, max: 2 }),
        end: fc.integer({ min: 0, max: 3 }),
      })
      .map(({ end, ...rest }) => ({ ...rest, endBitsValue: end % 2 ** rest.endBitsLength }));
    const essence = (each: LayoutOptions): unknown[] => {
      const unitMs = each.timeUnit === 2 ? 1_000 : 60_000;
      const unit = Math.floor(Date.parse(each.startTimeStamp as string) / unitMs);
      return [unitMs, unit, each.timeStampLength, each.workIdLength, each.endBitsLength, each.endBitsValue];
    };
    let equal = 0;
    fc.assert(
      fc.property(few, few, fc.boolean(), (one, another, same) => {
        // Half the time only the epoch can differ, otherwise equal pairs would be rare.
        const other = same ? { ...one, startTimeStamp: another.startTimeStamp } : another;
        const alike = JSON.stringify(essence(one)) === JSON.stringify(essence(other));
        expect(createLayout(one, now).fingerprint === createLayout(other, now).fingerprint).toBe(alike);
        if (alike) equal++;
      }),
      { numRuns: 2_000 },
    );
    expect(equal).toBeGreaterThan(200);
  });

  it('brings the same layout back, whatever the layout', () => {
    const roles = { t: 'time', w: 'worker', b: 'clockBack', s: 'sequence', e: 'fixed' } as const;
    const below = ['w5', 'w5', 's12', 'b1', 'e3', 'e2'] as const;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc
          .subarray([0, 1, 3, 4, 5])
          .chain((chosen) => fc.shuffledSubarray([...chosen, 2], { minLength: chosen.length + 1 })),
        fc.constantFrom(1, 10, 1_000, 60_000, 86_400_000),
        fc.integer({ min: -1e13, max: 1e13 }),
        fc.integer({ min: 0, max: 3 }),
        (timeBits, order, unitMs, epochMs, value) => {
          const fields = [`t${timeBits}`, ...order.map((index) => below[index]!)].map((text) => {
            const role = roles[text[0] as 't'];
            return { name: text, role, bits: Number(text.slice(1)), ...(role === ('fixed' as string) && { value }) };
          });
          const layout = new Layout({ fields, unitMs, epochMs });
          const again = new Layout(shapeOfFingerprint(layout.fingerprint)!);
          expect(again.fingerprint).toBe(layout.fingerprint);
          expect(again.timeline).toEqual(layout.timeline);
          expect(again.maxTick).toBe(layout.maxTick);
          expect(again.expiresAt).toEqual(layout.expiresAt);
          const parts = { tick: layout.maxTick, workerId: layout.maxWorkerId, clockBack: 0, sequence: 77 };
          expect(again.pack(parts)).toBe(layout.pack(parts));
          expect(again.endBitsValue).toBe(layout.endBitsValue);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    '',
    'go',
    '1000@1672531200',
    '1000@1672531200:',
    '1000@1672531200:t33',
    '1000@1672531200:t33.w10',
    '1000@1672531200:t33.s10.',
    '1000@1672531200:.t33.s10',
    '1000@1672531200:t33s10',
    '1000@1672531200:t33.w10s10',
    '1000@1672531200:t33..s10',
    '1000@1672531200:t33=1.s10',
    '1000@1672531200:t33.s10.e1',
    '1000@1672531200:t33.s10.e1=',
    '1000@1672531200:t33.s10.e1=2',
    '1000@1672531200:t33.s10.e1=01',
    '1000@1672531200:t33.s10.e2=1=1',
    '1000@1672531200:t033.s10',
    '1000@1672531200:t0.s10',
    '1000@1672531200:t33.s0',
    '1000@1672531200:t33.s32',
    '1000@1672531200:w10.t33.s10',
    '1000@1672531200:t33.t3.s10',
    '1000@1672531200:t33.x3.s10',
    '1000@1672531200:t33.b1.b1.s10',
    '01000@1672531200:t33.s10',
    '0@1672531200:t33.s10',
    '1000@01672531200:t33.s10',
    '1000@-0:t33.s10',
    '86400000@9999999999999999:t33.s10',
    ' 1000@1672531200:t33.s10',
    '1000@1672531200:t33.s10\n',
    '1000@1672531200:t33.s10 ',
    `1000@1672531200:t33.${'w1.'.repeat(70)}s10`,
  ])('is not %j', (text) => expect(shapeOfFingerprint(text)).toBeUndefined());

  it('is never read from rubbish in a way that it would not be written', () => {
    const piece = fc.constantFrom('1000', '@', '-', '7', ':', 't', 'w', 'b', 's', 'e', '3', '10', '.', '=', '1', '0');
    const rubbish = fc.oneof(
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 12 }).map((pieces) => `1000@7:t33.s10${pieces.join('')}`),
      fc.string(),
    );
    fc.assert(
      fc.property(rubbish, (text) => {
        const shape = shapeOfFingerprint(text);
        if (shape !== undefined) expect(new Layout(shape).fingerprint).toBe(text);
      }),
      { numRuns: runs(20_000) },
    );
  });
});
