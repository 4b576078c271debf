import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError, type ConfigurationProblem } from '../config/option-reader.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import {
  createLayout,
  DEFAULT_LAYOUT,
  LASTING_LAYOUT,
  type LayoutOptions,
  numberLayout,
  resolveLayout,
} from './layout-options.js';
import { planLayout } from './layout-advice.js';
import { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout-errors.js';

const now = Date.UTC(2023, 5, 1);

const legal = { startTimeStamp: '2023-01-01', timeStampLength: 33, workIdLength: 10 };

function problemsOf(options: unknown, at = now): readonly ConfigurationProblem[] {
  return caught(ConfigurationError, () => resolveLayout(options as LayoutOptions, at)).problems;
}

describe('layout options', () => {
  it('have the defaults of the design', () => {
    const { layout, workers, firstLane, minLifetimeDays } = resolveLayout(legal, now);
    expect(layout.unitMs).toBe(1_000);
    expect(workers).toEqual({ min: 1, max: 1023 });
    expect({ firstLane, minLifetimeDays }).toEqual({ firstLane: 0, minLifetimeDays: 365 });
    expect(layout.fields.map(({ role, bits, shift }) => [role, bits, shift])).toEqual([
      ['time', 33, 30],
      ['worker', 10, 20],
      ['clockBack', 1, 19],
      ['sequence', 19, 0],
    ]);
  });

  it.each([
    [1, 'millisecond', 1, 41],
    [2, 'second', 1_000, 33],
    [3, 'minute', 60_000, 33],
    [4, 'hour', 3_600_000, 33],
    [5, 'day', 86_400_000, 33],
  ] as const)('take unit %d by number and by name, in any case: %s', (number, name, unitMs, timeStampLength) => {
    for (const timeUnit of [number, name, name.toUpperCase() as typeof name]) {
      expect(createLayout({ ...legal, timeUnit, timeStampLength }, now).unitMs).toBe(unitMs);
    }
  });

  it('are frozen into a layout that cannot be changed', () => {
    const layout = createLayout(legal, now);
    expect(() => Object.assign(layout, { maxTick: Infinity })).toThrow(TypeError);
  });

  it.each([
    { serviceMinWorkId: 0, serviceMaxWorkId: 0 },
    { serviceMinWorkId: 1023 },
    { serviceMinWorkId: 7, serviceMaxWorkId: 7 },
    { endBitsLength: 5, endBitsValue: 31 },
    { timeBackBitValue: 1 },
    { timeStampLength: 31, minLifetimeDays: 0 },
    { timeUnit: 1, timeStampLength: 55, workIdLength: 6 },
    { timeUnit: 1, timeStampLength: 51, workIdLength: 10 },
    { startTimeStamp: now },
    { startTimeStamp: new Date(now) },
    { startTimeStamp: '2023-05-31T20:00-04:00' },
    { expectedNodes: 1, expectedIdsPerSecond: Number.MAX_SAFE_INTEGER },
    { timeUnit: undefined, serviceMinWorkId: undefined, minLifetimeDays: undefined },
  ])('may be %p', (changes) => {
    expect(() => createLayout({ ...legal, ...changes } as LayoutOptions, now)).not.toThrow();
  });
});

interface WrongOption {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly option: string;
  readonly given: string;
  /** What the message says of it, among other things. */
  readonly says: readonly string[];
}

// prettier-ignore
const WRONG: readonly WrongOption[] = [
  // The unit
  { changes: { timeUnit: 0 }, option: 'timeUnit', given: '0', says: [`'millisecond' (1)`, `'day' (5)`] },
  { changes: { timeUnit: 6 }, option: 'timeUnit', given: '6', says: [`'second' (2)`, `'minute' (3)`, `'hour' (4)`] },
  { changes: { timeUnit: 'week' }, option: 'timeUnit', given: '"week"', says: ['must be one of'] },
  { changes: { timeUnit: '2' }, option: 'timeUnit', given: '"2"', says: ['must be one of'] },
  { changes: { timeUnit: null }, option: 'timeUnit', given: 'null', says: ['must be one of'] },
  { changes: { timeUnit: '__proto__' }, option: 'timeUnit', given: '"__proto__"', says: ['must be one of'] },
  // The timestamp bits
  { changes: { timeUnit: 1, timeStampLength: 40 }, option: 'timeStampLength', given: '40', says: ['41 to 55', 'millisecond'] },
  { changes: { timeUnit: 1, timeStampLength: 56 }, option: 'timeStampLength', given: '56', says: ['41 to 55'] },
  { changes: { timeStampLength: 30 }, option: 'timeStampLength', given: '30', says: ['31 to 55', 'second'] },
  { changes: { timeStampLength: 56 }, option: 'timeStampLength', given: '56', says: ['31 to 55'] },
  { changes: { timeUnit: 3, timeStampLength: 24 }, option: 'timeStampLength', given: '24', says: ['25 to 50', 'minute'] },
  { changes: { timeUnit: 3, timeStampLength: 51 }, option: 'timeStampLength', given: '51', says: ['25 to 50'] },
  { changes: { timeUnit: 4, timeStampLength: 18 }, option: 'timeStampLength', given: '18', says: ['19 to 45', 'hour'] },
  { changes: { timeUnit: 4, timeStampLength: 46 }, option: 'timeStampLength', given: '46', says: ['19 to 45'] },
  { changes: { timeUnit: 5, timeStampLength: 14 }, option: 'timeStampLength', given: '14', says: ['15 to 40', 'day'] },
  { changes: { timeUnit: 5, timeStampLength: 41 }, option: 'timeStampLength', given: '41', says: ['15 to 40'] },
  { changes: { timeStampLength: undefined }, option: 'timeStampLength', given: 'undefined', says: ['is required', '31 to 55'] },
  { changes: { timeStampLength: '33' }, option: 'timeStampLength', given: '"33"', says: ['Number(...)'] },
  { changes: { timeStampLength: NaN }, option: 'timeStampLength', given: 'NaN', says: ['31 to 55'] },
  { changes: { timeStampLength: 33.5 }, option: 'timeStampLength', given: '33.5', says: ['an integer from 31 to 55'] },
  // The worker bits and the range
  { changes: { workIdLength: 2 }, option: 'workIdLength', given: '2', says: ['3 to 10'] },
  { changes: { workIdLength: 11 }, option: 'workIdLength', given: '11', says: ['3 to 10'] },
  { changes: { workIdLength: undefined }, option: 'workIdLength', given: 'undefined', says: ['is required', '3 to 10'] },
  { changes: { workIdLength: '10' }, option: 'workIdLength', given: '"10"', says: ['Number(...)'] },
  { changes: { serviceMinWorkId: -1 }, option: 'serviceMinWorkId', given: '-1', says: ['0 to 1023', 'workIdLength'] },
  { changes: { serviceMinWorkId: 1024 }, option: 'serviceMinWorkId', given: '1024', says: ['0 to 1023'] },
  { changes: { serviceMaxWorkId: 1024 }, option: 'serviceMaxWorkId', given: '1024', says: ['0 to 1023', 'workIdLength'] },
  { changes: { workIdLength: 3, serviceMaxWorkId: 8 }, option: 'serviceMaxWorkId', given: '8', says: ['0 to 7'] },
  { changes: { serviceMinWorkId: 8, serviceMaxWorkId: 7 }, option: 'serviceMinWorkId', given: '8', says: ['serviceMaxWorkId, 7'] },
  { changes: { serviceMaxWorkId: 0 }, option: 'serviceMinWorkId', given: '1', says: ['serviceMaxWorkId, 0'] },
  { changes: { serviceMinWorkId: '1' }, option: 'serviceMinWorkId', given: '"1"', says: ['Number(...)'] },
  // The bits below
  { changes: { timeBackBitValue: 2 }, option: 'timeBackBitValue', given: '2', says: ['0 to 1'] },
  { changes: { timeBackBitValue: true }, option: 'timeBackBitValue', given: 'true', says: ['0 to 1'] },
  { changes: { endBitsLength: -1 }, option: 'endBitsLength', given: '-1', says: ['0 to 5'] },
  { changes: { endBitsLength: 6 }, option: 'endBitsLength', given: '6', says: ['0 to 5'] },
  { changes: { endBitsValue: -1 }, option: 'endBitsValue', given: '-1', says: ['0 to 0', 'endBitsLength'] },
  { changes: { endBitsValue: 1 }, option: 'endBitsValue', given: '1', says: ['0 to 0', 'endBitsLength'] },
  { changes: { endBitsLength: 2, endBitsValue: 4 }, option: 'endBitsValue', given: '4', says: ['0 to 3'] },
  { changes: { endBitsLength: 5, endBitsValue: NaN }, option: 'endBitsValue', given: 'NaN', says: ['0 to 31'] },
  { changes: { timeStampLength: 52 }, option: 'timeStampLength', given: '52', says: ['no sequence bit', '63 - 52', '= 0', 'at least 1'] },
  { changes: { timeStampLength: 55, endBitsLength: 5 }, option: 'timeStampLength', given: '55', says: ['no sequence bit', '= -8'] },
  // The epoch
  { changes: { startTimeStamp: undefined }, option: 'startTimeStamp', given: 'undefined', says: ['is required', 'ISO'] },
  { changes: { startTimeStamp: now + 1 }, option: 'startTimeStamp', given: `${now + 1}`, says: ['is in the future'] },
  { changes: { startTimeStamp: '2023-06-01T00:00:00.001' }, option: 'startTimeStamp', given: '"2023-06-01T00:00:00.001"', says: ['is in the future'] },
  { changes: { startTimeStamp: new Date('2099-01-01') }, option: 'startTimeStamp', given: '2099-01-01T00:00:00.000Z', says: ['is in the future'] },
  { changes: { startTimeStamp: '2023-02-30' }, option: 'startTimeStamp', given: '"2023-02-30"', says: ['is not a date', 'ISO'] },
  { changes: { startTimeStamp: '2023-01-01T25:00' }, option: 'startTimeStamp', given: '"2023-01-01T25:00"', says: ['is not a date'] },
  { changes: { startTimeStamp: '1672531200000' }, option: 'startTimeStamp', given: '"1672531200000"', says: ['is not a date', 'Unix ms'] },
  { changes: { startTimeStamp: NaN }, option: 'startTimeStamp', given: 'NaN', says: ['is not a date'] },
  { changes: { startTimeStamp: new Date(NaN) }, option: 'startTimeStamp', given: 'Invalid Date', says: ['is not a date'] },
  { changes: { startTimeStamp: null }, option: 'startTimeStamp', given: 'null', says: ['is not a date'] },
  // The life
  { changes: { timeStampLength: 31, startTimeStamp: '1955-06-01' }, option: 'timeStampLength', given: '31', says: ['expires at 2023-06-19T03:14:08.000Z', 'minLifetimeDays (365)', 'later startTimeStamp'] },
  { changes: { timeStampLength: 31, startTimeStamp: '1900-01-01', minLifetimeDays: 0 }, option: 'timeStampLength', given: '31', says: ['expires at 1968'] },
  { changes: { minLifetimeDays: -1 }, option: 'minLifetimeDays', given: '-1', says: ['0 to 36500'] },
  { changes: { minLifetimeDays: '30' }, option: 'minLifetimeDays', given: '"30"', says: ['Number(...)'] },
  // The needs
  { changes: { expectedNodes: 0 }, option: 'expectedNodes', given: '0', says: ['1 to'] },
  { changes: { expectedIdsPerSecond: -5 }, option: 'expectedIdsPerSecond', given: '-5', says: ['1 to'] },
  { changes: { expectedIdsPerSecond: '1e3' }, option: 'expectedIdsPerSecond', given: '"1e3"', says: ['Number(...)'] },
  // Unknown names
  { changes: { timeStampLenght: 33 }, option: 'timeStampLenght', given: '(number)', says: ['did you mean timeStampLength?'] },
  { changes: { TimeUnit: 2 }, option: 'TimeUnit', given: '(number)', says: ['did you mean timeUnit?'] },
  { changes: { workerIdLength: 5 }, option: 'workerIdLength', given: '(number)', says: ['did you mean workIdLength?'] },
  { changes: { dataCentre: 5 }, option: 'dataCentre', given: '(number)', says: ['is not an option'] },
  { changes: { constructor: 5 }, option: 'constructor', given: '(number)', says: ['is not an option'] },
];

describe('a wrong layout option', () => {
  it.each(WRONG)(
    'is refused alone, by name, with its value and the legal ones: $changes',
    ({ changes, option, given, says }) => {
      const options = { ...legal, ...changes };
      const problems = problemsOf(options);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatchObject({ option, given });
      for (const text of says) expect(problems[0]!.message).toContain(text);
      expect(() => resolveLayout(options as unknown as LayoutOptions, now)).toThrow(`${option} = ${given}: `);
    },
  );

  it('is refused when the life left is a moment too short', () => {
    const end = Date.parse('2023-01-01') + 2 ** 31 * 1_000;
    const options = { ...legal, timeStampLength: 31 };
    const year = 365 * 86_400_000;
    expect(() => createLayout(options, end - year)).not.toThrow();
    expect(problemsOf(options, end - year + 1).map(({ option }) => option)).toEqual(['timeStampLength']);
    expect(() => createLayout({ ...options, minLifetimeDays: 30 }, end - 30 * 86_400_000)).not.toThrow();
    expect(problemsOf({ ...options, minLifetimeDays: 0 }, end + 1)).toHaveLength(1);
  });

  it('is reported together with all the others', () => {
    const problems = problemsOf({
      timeUnit: 'week',
      startTimeStamp: '2023-02-30',
      timeStampLength: 60,
      workIdLength: 11,
      serviceMinWorkId: -1,
      timeBackBitValue: 2,
      endBitsLength: 6,
      endBitsValue: -1,
    });
    expect(problems.map(({ option }) => option)).toEqual([
      'timeUnit',
      'startTimeStamp',
      'timeStampLength',
      'workIdLength',
      'endBitsLength',
      'endBitsValue',
      'serviceMinWorkId',
      'timeBackBitValue',
    ]);
  });

  it.each([
    ['lengths that would leave no sequence bit', { timeStampLength: 99, workIdLength: 10, endBitsLength: 5 }, ['timeStampLength']],
    ['a range inside bits that are themselves wrong', { workIdLength: 20, serviceMaxWorkId: 1023 }, ['workIdLength']],
    ['the order of a range whose end is wrong', { serviceMinWorkId: -1, serviceMaxWorkId: 0 }, ['serviceMinWorkId']],
    ['the order of a range whose other end is wrong', { serviceMinWorkId: 5, serviceMaxWorkId: 'x' }, ['serviceMaxWorkId']],
    ['an end value of a length that is wrong', { endBitsLength: 6, endBitsValue: 31 }, ['endBitsLength']],
    ['bits of a unit that is unknown', { timeUnit: 9, timeStampLength: 15 }, ['timeUnit']],
    ['the sequence bits of a unit that is unknown', { timeUnit: 9, timeStampLength: 55, endBitsLength: 5 }, ['timeUnit']],
    ['a life that follows from a wrong epoch', { timeStampLength: 31, startTimeStamp: 'then' }, ['startTimeStamp']],
    ['a life that is judged by a wrong number of days', { timeStampLength: 31, startTimeStamp: '1900-01-01', minLifetimeDays: -1 }, ['minLifetimeDays']],
  ])('does not draw a second complaint about %s', (_, changes, expected) => {
    expect(problemsOf({ ...legal, ...changes }).map(({ option }) => option)).toEqual(expected);
  }); // prettier-ignore

  it.each([[undefined], [null], ['{}'], [[]], [7]])('is %p in place of all options', (options: unknown) => {
    expect(problemsOf(options).map(({ option, message }) => [option, message])).toEqual([
      ['options', 'must be an object'],
    ]);
  });

  it('cannot come in through a prototype', () => {
    const polluted = JSON.parse(
      '{"startTimeStamp": 0, "timeStampLength": 40, "workIdLength": 10, "__proto__": {"endBitsLength": 5}}',
    ) as LayoutOptions;
    expect(problemsOf(polluted).map(({ option }) => option)).toEqual(['__proto__']);
    const inherited = Object.assign(Object.create({ endBitsLength: 5, timeUnit: 6 }) as object, legal);
    expect(createLayout(inherited as LayoutOptions, now).fingerprint).toBe('1000@1672531200:t33.w10.b1.s19');
    expect(createLayout({ ...legal, __proto__: { endBitsLength: 5 } } as LayoutOptions, now).endBitsValue).toBe(0);
    expect({}).not.toHaveProperty('endBitsLength');
  });
});

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
    expect(() => plan({ workIdLength: 9 })).toThrow('workIdLength = 9: cannot be combined with layout');
    expect(() => plan({ endBitsValue: 2 })).toThrow('an integer from 0 to 1');
    expect(() => plan({ startTimeStamp: '2040-01-01' })).toThrow('is in the future');
    expect(() => planLayout({ layout: 'numbers' as 'number' }, NOW)).toThrow(`must be 'number' or a Layout`);
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

describe('an error of a layout', () => {
  it('names the clock and the epoch, and may pass', () => {
    const error = new ClockBeforeEpochError(0, Date.UTC(2023, 0, 1));
    expect(error.message).toContain(
      'The clock reads 1970-01-01T00:00:00.000Z, before the epoch 2023-01-01T00:00:00.000Z',
    );
    expect(error).toMatchObject({ name: 'ClockBeforeEpochError', errorCode: 'CLOCK_BEFORE_EPOCH', retryable: true });
    expect(new ClockBeforeEpochError(-9e15, 0).message).toContain('-9000000000000000 ms');
  });

  it('names the tick and the last one, and will not pass', () => {
    const error = new TimestampOverflowError(8, 7);
    expect(error.message).toContain("Tick 8 is past this layout's last tick, 7");
    expect(error).toMatchObject({ name: 'TimestampOverflowError', errorCode: 'TIMESTAMP_OVERFLOW', retryable: false });
  });

  it('names the part and its range, and will not pass', () => {
    const error = new InvalidPartError('sequence', 9, 7);
    expect(error.message).toBe('sequence = 9 does not fit this layout: it must be an integer from 0 to 7.');
    expect(error).toMatchObject({ name: 'InvalidPartError', errorCode: 'INVALID_PART', retryable: false });
  });
});
