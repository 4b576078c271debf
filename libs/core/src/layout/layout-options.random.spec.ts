import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { ConfigurationError } from '../config/option-reader.js';
import { type LayoutOptions, type ResolvedLayout, resolveLayout } from './layout-options.js';

const NOW = Date.UTC(2023, 5, 1);

type Given = Record<string, unknown>;

/** Epochs and the Unix ms they stand for; undefined when they are no dates. */
const EPOCHS: readonly (readonly [unknown, number | undefined])[] = [
  ['2023-01-01', 1_672_531_200_000],
  ['2023-01-01T08:00:00+08:00', 1_672_531_200_000],
  ['2023-05-31 23:59:59.999', NOW - 1],
  ['2023-06-01T00:00:00.000Z', NOW],
  ['2023-06-01T00:00:00.001Z', NOW + 1],
  ['2023-06-01T00:00-00:01', NOW + 60_000],
  ['1954-05-13', -493_516_800_000],
  ['1956-05-12T20:45:52Z', NOW + 365 * 86_400_000 - 2 ** 31 * 1_000],
  [NOW, NOW],
  [NOW + 1, NOW + 1],
  [0, 0],
  [-8.64e15, -8.64e15],
  [-8.64e15 - 1, undefined],
  [8.64e15, 8.64e15],
  // Around one year of life: seconds of 31 bits, minutes of 25, hours of 19, days of 15.
  [NOW + 365 * 86_400_000 - 2 ** 31 * 1_000, NOW + 365 * 86_400_000 - 2 ** 31 * 1_000],
  [NOW + 365 * 86_400_000 - 2 ** 31 * 1_000 - 1, NOW + 365 * 86_400_000 - 2 ** 31 * 1_000 - 1],
  [NOW + 365 * 86_400_000 - 2 ** 25 * 60_000 - 1, NOW + 365 * 86_400_000 - 2 ** 25 * 60_000 - 1],
  [NOW + 365 * 86_400_000 - 2 ** 19 * 3_600_000, NOW + 365 * 86_400_000 - 2 ** 19 * 3_600_000],
  [NOW + 365 * 86_400_000 - 2 ** 15 * 86_400_000 - 1, NOW + 365 * 86_400_000 - 2 ** 15 * 86_400_000 - 1],
  [NOW + 365 * 86_400_000 - 2 ** 41, NOW + 365 * 86_400_000 - 2 ** 41],
  [NOW + 365 * 86_400_000 - 2 ** 41 - 1, NOW + 365 * 86_400_000 - 2 ** 41 - 1],
  [new Date(0), 0],
  [new Date(NaN), undefined],
  [NaN, undefined],
  [0.5, undefined],
  ['2023-02-29', undefined],
  ['2020-02-29', 1_582_934_400_000],
  ['2023-01-01T24:00', undefined],
  ['yesterday', undefined],
  ['0', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
];

const UNITS: readonly (readonly [unknown, 0 | 1 | 2 | 3 | 4 | undefined])[] = [
  [1, 0], ['millisecond', 0], [2, 1], ['Second', 1], [undefined, 1], [3, 2], ['MINUTE', 2], [4, 3], ['hour', 3], [5, 4], ['day', 4],
  [0, undefined], [6, undefined], ['1', undefined], ['days', undefined], [null, undefined], [NaN, undefined], [2.5, undefined],
]; // prettier-ignore

/** ms of a tick, least and most timestamp bits. */
const UNIT_RULES = [
  [1n, 41, 55],
  [1_000n, 31, 55],
  [60_000n, 25, 50],
  [3_600_000n, 19, 45],
  [86_400_000n, 15, 40],
] as const;

const KNOWN = new Set([
  'timeUnit', 'startTimeStamp', 'timeStampLength', 'workIdLength', 'serviceMinWorkId', 'serviceMaxWorkId', 'timeBackBitValue',
  'endBitsLength', 'endBitsValue', 'minLifetimeDays', 'expectedNodes', 'expectedIdsPerSecond',
]); // prettier-ignore

/** The design, said again in one predicate. */
function isLegal(given: Given): boolean {
  if (!Object.keys(given).every((name) => KNOWN.has(name))) return false;
  const whole = (value: unknown, min: number, max: number): value is number =>
    typeof value === 'number' && Number.isInteger(value) && min <= value && value <= max;
  const or = (value: unknown, fallback: number): unknown => (value === undefined ? fallback : value);

  const unit = UNITS.find(([each]) => Object.is(each, given['timeUnit']))![1];
  if (unit === undefined) return false;
  const [unitMs, leastBits, mostBits] = UNIT_RULES[unit];
  const epoch = EPOCHS.find(([each]) => Object.is(each, given['startTimeStamp']))![1];
  if (epoch === undefined || epoch > NOW) return false;

  const { timeStampLength: time, workIdLength: worker } = given;
  if (!whole(time, leastBits, mostBits) || !whole(worker, 3, 10)) return false;
  const most = 2 ** worker - 1;
  const [first, last] = [or(given['serviceMinWorkId'], 1), or(given['serviceMaxWorkId'], most)];
  if (!whole(first, 0, most) || !whole(last, 0, most) || first > last) return false;
  if (!whole(or(given['timeBackBitValue'], 0), 0, 1)) return false;
  const end = or(given['endBitsLength'], 0);
  if (!whole(end, 0, 5) || !whole(or(given['endBitsValue'], 0), 0, 2 ** end - 1)) return false;
  if (time + worker + 1 + end > 62) return false;
  for (const need of ['expectedNodes', 'expectedIdsPerSecond']) {
    if (!whole(or(given[need], 1), 1, 2 ** 53 - 1)) return false;
  }

  const days = or(given['minLifetimeDays'], 365);
  if (!whole(days, 0, 36_500)) return false;
  // The unit of the epoch, rounded down; BigInt division rounds towards zero.
  const start = BigInt(epoch) / unitMs - (BigInt(epoch) % unitMs < 0n ? 1n : 0n);
  const expiresMs = (start + 2n ** BigInt(time)) * unitMs;
  return expiresMs > 8_640_000_000_000_000n || expiresMs >= BigInt(NOW) + BigInt(days) * 86_400_000n;
}

const RUBBISH: readonly unknown[] = [
  -1,
  -0,
  0.5,
  1e9,
  2 ** 53,
  NaN,
  Infinity,
  '5',
  '',
  null,
  true,
  3n,
  {},
  [5],
  () => 5,
  Symbol('5'),
];

/** Values of an option, nearly all of them legal somewhere; the rubbish comes on top. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  timeUnit: UNITS.map(([unit]) => unit),
  startTimeStamp: EPOCHS.map(([epoch]) => epoch),
  timeStampLength: [14, 15, 18, 19, 24, 25, 30, 31, 32, 40, 41, 42, 45, 46, 50, 51, 55, 56, undefined],
  workIdLength: [2, 3, 4, 7, 9, 10, 11, undefined],
  serviceMinWorkId: [0, 1, 2, 7, 8, 127, 511, 1022, 1023, 1024, undefined],
  serviceMaxWorkId: [0, 1, 2, 6, 7, 8, 15, 127, 1022, 1023, 1024, undefined],
  timeBackBitValue: [0, 1, 2, undefined],
  endBitsLength: [0, 1, 2, 4, 5, 6, undefined],
  endBitsValue: [0, 1, 2, 3, 4, 15, 16, 31, 32, undefined],
  minLifetimeDays: [0, 1, 364, 365, 366, 1_000, 36_500, 36_501, undefined],
  expectedNodes: [0, 1, 1_000, 2 ** 53 - 1, undefined],
  expectedIdsPerSecond: [0, 1, 1e12, undefined],
};
const NAMES = Object.keys(VALUES);
const CHANGEABLE = NAMES.filter((name) => name !== 'timeUnit' && name !== 'startTimeStamp');
const UNKNOWN = ['timeunit', 'TimeStampLength', 'constructor', 'x', '', 'toString'];

/** Options near the legal ones, described by a few small numbers: quick to draw and to shrink. */
const anyOptions: fc.Arbitrary<Given> = fc
  .tuple(
    fc.integer({ min: 0, max: 4 }), // unit
    fc.integer({ min: -1, max: 32 }), // timestamp bits above the least
    fc.integer({ min: 3, max: 10 }), // worker bits
    fc.integer({ min: 0, max: 5 }), // end bits
    fc.nat({ max: 31 }), // end value
    fc.array(fc.tuple(fc.nat({ max: 999 }), fc.nat({ max: 9_999 })), { maxLength: 4 }),
  )
  .map(([unit, above, workIdLength, endBitsLength, endValue, changes]) => {
    const [, least, most] = UNIT_RULES[unit]!;
    const options: Given = {
      timeUnit: unit + 1,
      startTimeStamp: '2023-01-01',
      timeStampLength: Math.min(least + above, most),
      workIdLength,
      endBitsLength,
      endBitsValue: endValue % 2 ** endBitsLength,
    };
    for (const [which, value] of changes) {
      if (which % 40 === 0) {
        options[UNKNOWN[value % UNKNOWN.length]!] = 1;
        continue;
      }
      const rubbish = value % 10 === 0;
      // Rubbish as a unit or an epoch is in their own lists.
      const name = rubbish ? CHANGEABLE[which % CHANGEABLE.length]! : NAMES[which % NAMES.length]!;
      const values = rubbish ? RUBBISH : VALUES[name]!;
      options[name] = values[Math.floor(value / 10) % values.length];
    }
    return options;
  });

function resolved(options: Given): ResolvedLayout | ConfigurationError {
  try {
    return resolveLayout(options as unknown as LayoutOptions, NOW);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** 100,000 of them, and a fifth in `npm test`. */
const RUNS = runs(100_000);

describe('Random configurations', () => {
  it('are accepted exactly when they are legal', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyOptions, (options) => {
        const result = resolved(options);
        const legal = isLegal(options);
        if (result instanceof ConfigurationError) {
          return !legal && result.problems.length > 0;
        }
        accepted++;
        const bits = result.layout.fields.map((field) => field.bits);
        return legal && result.layout.bits === 63 && bits.every((width) => width >= 1);
      }),
      { numRuns: RUNS },
    );
    // Both answers are common, otherwise the property would say little.
    expect(accepted).toBeGreaterThan(RUNS / 5);
    expect(accepted).toBeLessThan((RUNS * 4) / 5);
  });
});
