import { caught } from '../../../../test/support/engine/caught.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { ConfigurationError, OptionReader } from '../config/option-reader.js';
import { vectors } from '../../../../test/support/engine/original-program.js';
import { type Field, type FieldRole, Layout, type LayoutParts, type LayoutShape, parseId } from './layout.js';
import { InvalidPartError, TimestampOverflowError } from './layout-errors.js';
import { createLayout, type LayoutOptions, reportOutsideLife } from './layout-options.js';

const now = Date.UTC(2023, 5, 1);

const middle = '2023-03-05T13:47:31.750Z';

describe('an ID', () => {
  const rows: {
    options: Omit<LayoutOptions, 'startTimeStamp'>;
    startTimeStamp?: string;
    at: string;
    workerId: number;
    clockBack: number;
    sequence: number;
    tick: number;
    id: bigint;
    decimal: string;
  }[] = [
    {
      options: { timeUnit: 'millisecond', timeStampLength: 41, workIdLength: 10, endBitsLength: 1, endBitsValue: 1 },
      at: '2023-03-05T13:47:31.757Z',
      workerId: 945,
      clockBack: 0,
      sequence: 3,
      tick: 7,
      id: (7n << 22n) | (945n << 12n) | (0n << 11n) | (3n << 1n) | 1n,
      decimal: '33230855',
    },
    {
      options: { timeUnit: 'millisecond', timeStampLength: 50, workIdLength: 3, endBitsLength: 5, endBitsValue: 17 },
      at: '2023-03-05T13:47:32.750Z',
      workerId: 7,
      clockBack: 1,
      sequence: 15,
      tick: 1_000,
      id: (1_000n << 13n) | (7n << 10n) | (1n << 9n) | (15n << 5n) | 17n,
      decimal: '8200177',
    },
    {
      options: { timeUnit: 'second', timeStampLength: 31, workIdLength: 10 },
      at: '2023-03-05T13:47:34.250Z',
      workerId: 5,
      clockBack: 1,
      sequence: 9,
      tick: 3,
      id: (3n << 32n) | (5n << 22n) | (1n << 21n) | 9n,
      decimal: '12907970569',
    },
    {
      options: { timeUnit: 'second', timeStampLength: 33, workIdLength: 10, endBitsLength: 1, endBitsValue: 0 },
      at: '2023-03-05T13:47:31.000Z',
      workerId: 1023,
      clockBack: 1,
      sequence: 262_143,
      tick: 0,
      id: (1_023n << 20n) | (1n << 19n) | (262_143n << 1n),
      decimal: '1073741822',
    },
    {
      options: { timeUnit: 'minute', timeStampLength: 25, workIdLength: 10, endBitsLength: 2, endBitsValue: 2 },
      at: '2023-03-05T13:50:10.000Z',
      workerId: 776,
      clockBack: 1,
      sequence: 1,
      tick: 3,
      id: (3n << 38n) | (776n << 28n) | (1n << 27n) | (1n << 2n) | 2n,
      decimal: '1033073852422',
    },
    {
      options: { timeUnit: 'hour', timeStampLength: 19, workIdLength: 5, endBitsLength: 5, endBitsValue: 17 },
      at: '2023-03-05T15:05:00.000Z',
      workerId: 19,
      clockBack: 1,
      sequence: 2,
      tick: 2,
      id: (2n << 44n) | (19n << 39n) | (1n << 38n) | (2n << 5n) | 17n,
      decimal: '45904610459729',
    },
    {
      options: { timeUnit: 'day', timeStampLength: 15, workIdLength: 8 },
      at: '2023-03-07T01:00:00.000Z',
      workerId: 189,
      clockBack: 1,
      sequence: 4,
      tick: 2,
      id: (2n << 48n) | (189n << 40n) | (1n << 39n) | 4n,
      decimal: '771307406884868',
    },
    {
      options: { timeUnit: 'second', timeStampLength: 31, workIdLength: 3 },
      startTimeStamp: '1969-12-31T23:59:59.500Z',
      at: '1970-01-01T00:00:00.250Z',
      workerId: 1,
      clockBack: 0,
      sequence: 0,
      tick: 1,
      id: (1n << 32n) | (1n << 29n),
      decimal: '4831838208',
    },
  ];

  it.each(rows)(
    'of unit $options.timeUnit, $options.timeStampLength bits, lane $clockBack is $decimal',
    ({ options, startTimeStamp = middle, at, id, decimal, ...parts }) => {
      expect(id.toString()).toBe(decimal);
      const layout = createLayout({ startTimeStamp, minLifetimeDays: 0, ...options }, now);
      expect(layout.timeline.tickAt(Date.parse(at))).toBe(parts.tick);
      expect(layout.pack(parts)).toBe(id);
      expect(layout.unpack(id)).toEqual({ ...parts, endBits: options.endBitsValue ?? 0 });
    },
  );

  it('reaches from the first to the last of 63 bits', () => {
    const layout = createLayout(
      { startTimeStamp: middle, timeStampLength: 31, workIdLength: 4, endBitsLength: 1 },
      now,
    );
    expect(layout.bits).toBe(63);
    expect(layout.pack({ tick: 0, workerId: 0, clockBack: 0, sequence: 0 })).toBe(0n);
    const last = { tick: 2 ** 31 - 1, workerId: 15, clockBack: 1, sequence: 2 ** 26 - 1, endBits: 1 };
    expect(layout.pack(last)).toBe(2n ** 63n - 1n);
    expect(layout.unpack(2n ** 63n - 1n)).toEqual(last);
  });

  it('of another end value is decoded as it is', () => {
    const layout = createLayout(
      { startTimeStamp: middle, timeStampLength: 31, workIdLength: 4, endBitsLength: 2 },
      now,
    );
    expect(layout.unpack(3n)).toEqual({ tick: 0, workerId: 0, clockBack: 0, sequence: 0, endBits: 3 });
  });
});

describe('a layout of another kind', () => {
  const field = (role: Field['role'], bits: number, name: string = role): Field => ({ name, role, bits });
  const time = (bits: number): Field => field('time', bits);
  const worker = (bits: number, name?: string): Field => field('worker', bits, name);
  const sequence = (bits: number): Field => field('sequence', bits);

  const twitter = { fields: [time(41), worker(5), worker(5), sequence(12)], unitMs: 1, epochMs: 1_288_834_974_657 };
  const discord = { fields: [time(42), worker(5), worker(5), sequence(12)], unitMs: 1, epochMs: 1_420_070_400_000 };
  const sonyflake = { fields: [time(39), sequence(8), worker(16)], unitMs: 10, epochMs: Date.UTC(2014, 8, 1) };
  const instagram = { fields: [time(41), worker(13), sequence(10)], unitMs: 1, epochMs: 1_314_220_021_721 };
  const westid = { fields: [time(41), worker(10), sequence(12)], unitMs: 1, epochMs: 1_490_346_283_706 };
  const uidGenerator = {
    fields: [time(28), worker(22), sequence(13)],
    unitMs: 1_000,
    epochMs: Date.parse('2016-05-20T00:00:00+08:00'),
  };

  it.each([
    { system: 'twitter', shape: twitter, id: 1_541_815_603_606_036_480n, at: '2022-06-28T16:07:40.105Z', workerId: 378, sequence: 0 },
    { system: 'discord', shape: discord, id: 175_928_847_299_117_063n, at: '2016-04-30T11:18:25.796Z', workerId: 32, sequence: 7 },
    { system: 'westid', shape: westid, id: 1_415_384_785_396_004n, at: '2017-03-28T14:48:57.735+08:00', workerId: 426, sequence: 292 },
    { system: 'uid-generator', shape: uidGenerator, id: 3_200_169_789_968_523_265n, at: '2019-05-02T23:26:39+08:00', workerId: 21, sequence: 1 },
    {
      system: 'sonyflake',
      shape: sonyflake,
      id: (123_456_789n << 24n) | (200n << 16n) | 40_000n,
      at: new Date(Date.UTC(2014, 8, 1) + 1_234_567_890).toISOString(),
      workerId: 40_000,
      sequence: 200,
    },
    {
      system: 'instagram',
      shape: instagram,
      id: (73_042_978_279n << 23n) | (1_341n << 10n) | 905n,
      at: new Date(1_314_220_021_721 + 73_042_978_279).toISOString(),
      workerId: 1_341,
      sequence: 905,
    },
  ])('is read and written as well: $system', ({ shape, id, at, workerId, sequence }) => {
    const layout = new Layout(shape);
    const parts = layout.unpack(id);
    expect(parts).toEqual({ tick: layout.timeline.tickAt(Date.parse(at)), workerId, clockBack: 0, sequence, endBits: 0 });
    expect(layout.timeline.startOf(parts.tick)).toBe(Date.parse(at));
    expect(layout.pack(parts)).toBe(id);
  }); // prettier-ignore

  it('knows the ticks that the presets are known by', () => {
    expect(new Layout(westid).unpack(1_415_384_785_396_004n).tick).toBe(337_454_029);
    expect(new Layout(uidGenerator).expiresAt).toEqual(new Date('2024-11-20T13:24:16Z'));
  });

  it('makes one worker number of several worker fields, the first one highest', () => {
    const layout = new Layout(twitter);
    expect([layout.maxWorkerId, layout.hasClockBack]).toEqual([1_023, false]);
    const id = (5n << 22n) | (17n << 17n) | (3n << 12n) | 9n;
    expect(layout.unpack(id).workerId).toBe(17 * 32 + 3);
    expect(layout.pack({ tick: 5, workerId: 17 * 32 + 3, clockBack: 0, sequence: 9 })).toBe(id);
  });

  it('holds worker fields that do not lie side by side, and several fixed ones', () => {
    const fixed = (bits: number, value: number): Field => ({ name: 'fixed', role: 'fixed', bits, value });
    const layout = new Layout({
      fields: [time(40), fixed(2, 2), worker(3), sequence(6), worker(4), field('clockBack', 1), fixed(3, 5)],
      unitMs: 1_000,
      epochMs: 0,
    });
    const id = (7n << 19n) | (2n << 17n) | (5n << 14n) | (33n << 8n) | (9n << 4n) | (1n << 3n) | 5n;
    const parts: LayoutParts = { tick: 7, workerId: 5 * 16 + 9, clockBack: 1, sequence: 33, endBits: 2 * 8 + 5 };
    expect(layout.endBitsValue).toBe(21);
    expect(layout.pack({ ...parts, endBits: undefined })).toBe(id);
    expect(layout.unpack(id)).toEqual(parts);
  });

  it('of 64 bits decodes the whole unsigned range and issues the lower half', () => {
    const layout = new Layout(discord);
    const highest = { workerId: 1_023, clockBack: 0, sequence: 4_095 };
    expect([layout.bits, layout.maxTick]).toEqual([64, 2 ** 41 - 1]);
    expect(layout.expiresAt).toEqual(new Date(1_420_070_400_000 + 2 ** 41));
    expect(layout.pack({ tick: 2 ** 41 - 1, ...highest })).toBe(2n ** 63n - 1n);
    expect(() => layout.pack({ tick: 2 ** 41, ...highest })).toThrow(TimestampOverflowError);
    expect(layout.unpack(2n ** 64n - 1n)).toMatchObject({ tick: 2 ** 42 - 1, ...highest });
    expect(() => layout.unpack(2n ** 64n)).toThrow(InvalidPartError);
  });

  it('without workers has worker 0 only', () => {
    const layout = new Layout({ fields: [time(42), sequence(21)], unitMs: 1, epochMs: 0 });
    expect(layout.maxWorkerId).toBe(0);
    expect(() => layout.pack({ tick: 1, workerId: 1, clockBack: 0, sequence: 0 })).toThrow('workerId = 1 does not fit');
    expect(() => layout.pack({ tick: 1, workerId: 0, clockBack: 1, sequence: 0 })).toThrow(
      'clockBack = 1 does not fit',
    );
  });
});

describe('a part that does not fit', () => {
  const options = { startTimeStamp: middle, timeStampLength: 31, workIdLength: 4, endBitsLength: 2 };
  const layout = createLayout(options, now);
  const fitting = { tick: 1, workerId: 2, clockBack: 1, sequence: 3, endBits: 3 };
  const maxima = { workerId: 15, clockBack: 1, sequence: 2 ** 25 - 1, endBits: 3 };

  const wrong = Object.entries(maxima).flatMap(([name, max]) =>
    [max + 1, -1, 0.5, Number.NaN, Infinity, -Infinity, '1' as unknown as number].map((value) => ({
      name,
      value,
      max,
    })),
  );
  it.each(wrong)('is refused: $name = $value', ({ name, value, max }) => {
    const error = caught(InvalidPartError, () => layout.pack({ ...fitting, [name]: value }));
    expect(error).toMatchObject({ errorCode: 'INVALID_PART', part: name, given: value, max, retryable: false });
    expect(error.message).toBe(`${name} = ${value} does not fit this layout: it must be an integer from 0 to ${max}.`);
  });

  it.each([[-1], [0.5], [2 ** 40 + 0.5], [Number.NaN], [Infinity]])('is refused: tick = %p', (tick) => {
    expect(caught(InvalidPartError, () => layout.pack({ ...fitting, tick })).part).toBe('tick');
  });

  it('is, as a tick, an overflow once the timestamp bits are used up', () => {
    expect(layout.pack({ ...fitting, tick: 2 ** 31 - 1 })).toBeLessThan(2n ** 63n);
    const error = caught(TimestampOverflowError, () => layout.pack({ ...fitting, tick: 2 ** 31 }));
    expect(error).toMatchObject({ errorCode: 'TIMESTAMP_OVERFLOW', tick: 2 ** 31, maxTick: 2 ** 31 - 1 });
    expect(error.retryable).toBe(false);
  });

  it.each([[-1n], [2n ** 63n], [2n ** 64n], [-(2n ** 63n)]])('is an ID of another width: %d', (id) => {
    const error = caught(InvalidPartError, () => layout.unpack(id));
    expect(error.message).toBe(
      `id = ${id} does not fit this layout: it must be an integer from 0 to 9223372036854775807.`,
    );
  });

  it.each([[1], ['1'], [null], [undefined], [1.5]])('is an ID that is not a bigint: %p', (id: unknown) => {
    expect(caught(InvalidPartError, () => layout.unpack(id as bigint)).part).toBe('id');
  });

  it('is a tick that lies beyond every Date', () => {
    const far = createLayout({ startTimeStamp: 0, timeUnit: 1, timeStampLength: 55, workIdLength: 3 }, now);
    const lowBits = 8n;
    const last = 8_640_000_000_000_000n;
    expect(far.unpack(last << lowBits).tick).toBe(8_640_000_000_000_000);
    expect(() => far.unpack((last + 1n) << lowBits)).toThrow(TimestampOverflowError);
    expect(() => far.unpack((2n ** 53n + 1n) << lowBits)).toThrow(TimestampOverflowError);
    expect(() => far.unpack(2n ** 63n - 1n)).toThrow(TimestampOverflowError);
    expect(() => far.pack({ tick: 2 ** 53, workerId: 0, clockBack: 0, sequence: 0 })).toThrow(TimestampOverflowError);
  });

  it('is a tick past 2^53, even where an epoch of the far past leaves Dates for it', () => {
    const far = createLayout({ startTimeStamp: -8.64e15, timeUnit: 1, timeStampLength: 55, workIdLength: 3 }, now);
    expect(far.maxTick).toBe(2 ** 53 - 1);
    expect(far.unpack((2n ** 53n - 1n) << 8n).tick).toBe(2 ** 53 - 1);
    expect(() => far.unpack((2n ** 53n + 1n) << 8n)).toThrow(TimestampOverflowError);
  });
});

describe('an ID taken apart', () => {
  const layout = createLayout(
    { startTimeStamp: '2023-03-05T13:47:31.750Z', timeStampLength: 31, workIdLength: 10 },
    now,
  );
  const id = (3n << 32n) | (5n << 22n) | (1n << 21n) | 9n;

  it.each([[id], ['12907970569'], [12_907_970_569]])('says what is in it: %p', (given) => {
    expect(parseId(layout, given)).toEqual({
      id,
      time: new Date('2023-03-05T13:47:34Z'),
      tick: 3,
      workerId: 5,
      clockBack: 1,
      sequence: 9,
      endBits: 0,
    });
  });

  it.each([['0x10'], ['1.5'], [' 1'], [2 ** 53], [-1], [-1n], [2n ** 63n]])(
    'is refused when it is none: %p',
    (given) => {
      expect(() => parseId(layout, given)).toThrow(InvalidIdError);
    },
  );

  it('is unsigned where its layout has 64 bits', () => {
    const fields = [
      { name: 'time', role: 'time' as const, bits: 42 },
      { name: 'sequence', role: 'sequence' as const, bits: 22 },
    ];
    const unsigned = new Layout({ fields, unitMs: 1, epochMs: 0 });
    const last = { time: new Date(2 ** 42 - 1), tick: 2 ** 42 - 1, sequence: 2 ** 22 - 1, workerId: 0 };
    expect(parseId(unsigned, 2n ** 64n - 1n)).toMatchObject({ id: 2n ** 64n - 1n, ...last });
    expect(parseId(unsigned, '18446744073709551615')).toMatchObject(last);
    expect(parseId(unsigned, 2n ** 63n).tick).toBe(2 ** 41);
    for (const given of [-1n, 2n ** 64n, '18446744073709551616', 2 ** 53]) {
      expect(() => parseId(unsigned, given)).toThrow(InvalidIdError);
    }
  });

  it('is refused when its time lies beyond every Date', () => {
    const far = createLayout({ startTimeStamp: 0, timeUnit: 'day', timeStampLength: 40, workIdLength: 3 }, now);
    expect(parseId(far, 100_000_000n << 23n).time).toEqual(new Date(8.64e15));
    expect(() => parseId(far, 100_000_001n << 23n)).toThrow(TimestampOverflowError);
  });
});

const fields: readonly Field[] = [
  { name: 'time', role: 'time', bits: 10 },
  { name: 'sequence', role: 'sequence', bits: 10 },
];

const layout = new Layout({ fields, unitMs: 1_000, epochMs: Date.parse('2026-01-01T00:00:00.500Z') });

function problemsAt(now: string): readonly object[] {
  const reader = new OptionReader({});
  reportOutsideLife(reader, 'layout', layout, Date.parse(now));
  return reader.problems;
}

describe('A layout', () => {
  it.each(['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.500Z', '2026-01-01T00:17:03.999Z'])(
    'that can issue is let through: %s',
    (now) => expect(problemsAt(now)).toEqual([]),
  );

  it('before its epoch is refused', () => {
    expect(problemsAt('2025-12-31T23:59:59.999Z')).toEqual([
      {
        option: 'layout',
        given: '"1000@1767225600:t10.s10"',
        message: 'issues no IDs before its epoch, 2026-01-01T00:00:00.500Z: use a past startTimeStamp',
      },
    ]);
  });

  it('that has expired is refused', () => {
    expect(problemsAt('2026-01-01T00:17:04.000Z')).toEqual([
      {
        option: 'layout',
        given: '"1000@1767225600:t10.s10"',
        message:
          'expired at 2026-01-01T00:17:04.000Z and can only read: for new data use a later startTimeStamp or more ' +
          'timestamp bits, and keep this layout for parseId()',
      },
    ]);
  });
});

const ROLES: Record<string, FieldRole> = { t: 'time', w: 'worker', b: 'clockBack', s: 'sequence', e: 'fixed' };

/** `t41.w10.s12`, as in a fingerprint. */
function shape(text: string, rest: Partial<LayoutShape> = {}): LayoutShape {
  const fields = text.split('.').map((each): Field => {
    const [head, value] = each.split('=') as [string, string | undefined];
    const role = ROLES[head[0]!]!;
    return { name: role, role, bits: Number(head.slice(1)), ...(value !== undefined && { value: Number(value) }) };
  });
  return { fields, unitMs: 1, epochMs: 0, ...rest };
}

describe('the shape of a layout', () => {
  it.each([
    't1.s1',
    't41.w10.s12',
    't39.s8.w16',
    't42.w5.w5.s12',
    't33.w10.b1.s18.e1=1',
    't20.e3=7.s3.e2',
    't11.s53',
    't1.w53.s9',
  ])('may be %s', (text) => expect(new Layout(shape(text)).fields).toHaveLength(text.split('.').length));

  it.each([
    ['w10.t41.s12', 'must begin with its only time field'],
    ['t41.w10.t2.s10', 'must begin with its only time field'],
    ['s12.w10', 'must begin with its only time field'],
    ['t41.w10', 'must have exactly one sequence field'],
    ['t41.s5.s5', 'must have exactly one sequence field'],
    ['t41.b1.b1.s5', 'must have at most one clock-back field, of 1 bit'],
    ['t41.b2.s5', 'must have at most one clock-back field, of 1 bit'],
    ['t41.w0.s5', 'must have fields of 1 bit or more'],
    ['t41.s0', 'must have fields of 1 bit or more'],
    ['t-1.s5', 'must have fields of 1 bit or more'],
    ['t41.w12.s12', 'must not have more than 64 bits'],
    ['t5.s54', 'must limit worker, sequence and fixed fields to 53 bits each'],
    ['t5.w30.w24.s2', 'must limit worker, sequence and fixed fields to 53 bits each'],
    ['t41.s12.e2=4', 'must give its fixed fields values that fit into their bits'],
    ['t41.s12.e2=-1', 'must give its fixed fields values that fit into their bits'],
  ])('may not be %s: it %s', (text, message) => {
    const { problems } = caught(ConfigurationError, () => new Layout(shape(text)));
    expect(problems).toEqual([
      { option: 'layout', given: expect.any(String) as string, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    [{ unitMs: 0 }, 'whole milliseconds'],
    [{ unitMs: 0.5 }, 'whole milliseconds'],
    [{ unitMs: Number.NaN }, 'whole milliseconds'],
    [{ epochMs: Number.NaN }, 'an epoch in Unix ms'],
    [{ epochMs: 1.5 }, 'an epoch in Unix ms'],
    [{ epochMs: 9e15 }, 'an epoch in Unix ms'],
  ])('may not have %p', (rest, message) => {
    expect(() => new Layout(shape('t41.w10.s12', rest))).toThrow(message);
  });

  it('is shown as it was given', () => {
    expect(() => new Layout(shape('w10.t41.s12'))).toThrow('layout = worker 10 / time 41 / sequence 12: must begin');
  });
});

const startTimeStamp = '2023-01-01T00:00:00Z';

const unitMs = { millisecond: 1, second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

type Unit = keyof typeof unitMs;

/** Years of 365 days, truncated. */
const LIFETIMES: Record<Unit, Record<number, number>> = {
  millisecond: {
    41: 69.7,
    42: 139,
    43: 278,
    44: 557,
    45: 1115,
    46: 2231,
    47: 4462,
    48: 8925,
    49: 17851,
    55: 1142465,
  },
  second: {
    31: 68,
    32: 136,
    33: 272,
    34: 544,
    35: 1089,
    36: 2179,
    37: 4358,
    38: 8716,
    39: 17432,
    55: 1142465658,
  },
  minute: {
    25: 63,
    26: 127,
    27: 255,
    28: 510,
    29: 1021,
    30: 2042,
    31: 4085,
    32: 8171,
    33: 16343,
    50: 2142123110,
  },
  hour: {
    19: 59,
    20: 119,
    21: 239,
    22: 478,
    23: 957,
    24: 1915,
    25: 3830,
    26: 7660,
    27: 15321,
    45: 4016480832,
  },
  day: {
    15: 89,
    16: 179,
    17: 359,
    18: 718,
    19: 1436,
    20: 2872,
    21: 5745,
    22: 11491,
    23: 22982,
    40: 3012360624,
  },
};

// prettier-ignore

const BITS: Record<Unit, readonly [number, number]> = {
  millisecond: [41, 55],
  second: [31, 55],
  minute: [25, 50],
  hour: [19, 45],
  day: [15, 40],
};

function layoutOf(options: Partial<LayoutOptions>): Layout {
  return createLayout({ startTimeStamp, timeStampLength: 41, workIdLength: 3, ...options }, now);
}

describe('the life of a layout', () => {
  const rows = Object.entries(LIFETIMES).flatMap(([timeUnit, years]) =>
    Object.entries(years).map(([bits, lasts]) => ({ timeUnit: timeUnit as Unit, bits: Number(bits), lasts })),
  );

  it.each(rows)('of $bits bits with a unit of one $timeUnit is $lasts years', ({ timeUnit, bits, lasts }) => {
    const { lifetimeYears } = layoutOf({ timeUnit, timeStampLength: bits });
    expect(lasts === 69.7 ? Math.floor(lifetimeYears * 10) / 10 : Math.floor(lifetimeYears)).toBe(lasts);
  });

  it.each(Object.keys(BITS) as Unit[])('ends with the last tick, or beyond all Dates: unit of one %s', (timeUnit) => {
    const unit = BigInt(unitMs[timeUnit]);
    for (let bits = BITS[timeUnit][0]; bits <= BITS[timeUnit][1]; bits++) {
      const layout = layoutOf({ timeUnit, timeStampLength: bits });
      const endMs = (BigInt(Date.parse(startTimeStamp)) / unit + (1n << BigInt(bits))) * unit;
      expect(layout.expiresAt?.getTime()).toBe(endMs <= 8_640_000_000_000_000n ? Number(endMs) : undefined);
      if (layout.expiresAt === null) expect(layout.timeline.startOf(layout.maxTick)).toBeLessThanOrEqual(8.64e15);
      else expect(layout.maxTick).toBe(2 ** bits - 1);
    }
  });

  it('reaches beyond every Date, and even beyond 2^53 ticks', () => {
    const layout = layoutOf({ timeUnit: 'millisecond', timeStampLength: 55 });
    expect(layout.expiresAt).toBeNull();
    expect(layout.safeUntil).not.toBeNull();
    expect(layout.maxTick).toBe(8_640_000_000_000_000 - Date.parse(startTimeStamp));
    // 2^30 safe ticks of a day are 2.9 million years.
    const days = layoutOf({ timeUnit: 'day', timeStampLength: 40 });
    expect([days.expiresAt, days.safeUntil]).toEqual([null, null]);
    expect(days.safeTicks).toBe(2 ** 30);
  });
});

describe('the IDs of a layout stay safe numbers', () => {
  it.each([
    { timeUnit: 'millisecond' as const, bits: 50, ticks: 2 ** 40, years: 34.8 },
    { timeUnit: 'second' as const, bits: 40, ticks: 2 ** 30, years: 34 },
  ])('for $years years with $bits bits of one $timeUnit', ({ timeUnit, bits, ticks, years }) => {
    const layout = layoutOf({ timeUnit, timeStampLength: bits, endBitsLength: 1, endBitsValue: 1 });
    expect(layout.safeTicks).toBe(ticks);
    expect(Math.floor(((ticks * unitMs[timeUnit]) / (365 * 86_400_000)) * 10) / 10).toBe(years);
    expect(layout.safeUntil).toEqual(new Date(Date.parse(startTimeStamp) + ticks * unitMs[timeUnit]));

    const last = { workerId: layout.maxWorkerId, clockBack: 1, sequence: layout.maxSequence };
    expect(layout.pack({ tick: ticks - 1, ...last })).toBe(2n ** 53n - 1n);
    expect(layout.pack({ tick: ticks, workerId: 0, clockBack: 0, sequence: 0 })).toBe(2n ** 53n + 1n);
  });

  it('from the first tick on to none at all', () => {
    expect(layoutOf({ timeUnit: 'day', timeStampLength: 15 }).safeTicks).toBe(32);
    const wide = new Layout({
      fields: [
        { name: 'time', role: 'time', bits: 9 },
        { name: 'worker', role: 'worker', bits: 27 },
        { name: 'sequence', role: 'sequence', bits: 27 },
      ],
      unitMs: 86_400_000,
      epochMs: 0,
    });
    expect([wide.safeTicks, wide.safeUntil]).toEqual([0, new Date(0)]);
  });

  it('for its whole life when all its bits are few', () => {
    const few = new Layout({
      fields: [
        { name: 'time', role: 'time', bits: 31 },
        { name: 'sequence', role: 'sequence', bits: 22 },
      ],
      unitMs: 1_000,
      epochMs: 0,
    });
    expect(few.safeUntil).toEqual(few.expiresAt);
  });
});

describe('the capacity of a layout', () => {
  it.each([
    [3, 7],
    [4, 15],
    [5, 31],
    [6, 63],
    [7, 127],
    [8, 255],
    [9, 511],
    [10, 1023],
  ])('with %d worker bits is %d workers', (workIdLength, workers) => {
    const layout = layoutOf({ workIdLength });
    expect([layout.maxWorkers, layout.maxWorkerId]).toEqual([workers, workers]);
  });

  it('is two to the power of the bits that are left, for every legal combination', () => {
    let combinations = 0;
    for (const timeUnit of Object.keys(BITS) as Unit[]) {
      for (let time = BITS[timeUnit][0]; time <= BITS[timeUnit][1]; time++) {
        for (let worker = 3; worker <= 10; worker++) {
          for (let end = 0; end <= 5 && time + worker + end < 62; end++) {
            const layout = layoutOf({ timeUnit, timeStampLength: time, workIdLength: worker, endBitsLength: end });
            const ids = 2 ** (62 - time - worker - end);
            if (layout.idsPerTick !== ids || layout.idsPerSecond !== (ids * 1_000) / unitMs[timeUnit]) {
              throw new Error(`${layout.fingerprint} holds ${layout.idsPerTick}, not ${ids}`);
            }
            combinations++;
          }
        }
      }
    }
    expect(combinations).toBeGreaterThan(5_000);
  });

  it.each([
    { timeUnit: 'millisecond' as const, bits: 41, worker: 10, end: 1, perTick: 1_024, perSecond: 1_024_000 },
    { timeUnit: 'second' as const, bits: 31, worker: 10, end: 1, perTick: 1_048_576, perSecond: 1_048_576 },
    {
      timeUnit: 'minute' as const,
      bits: 28,
      worker: 10,
      end: 0,
      perTick: 16_777_216,
      perSecond: 279_620.266_666_666_7,
    },
    { timeUnit: 'millisecond' as const, bits: 55, worker: 3, end: 3, perTick: 2, perSecond: 2_000 },
  ])('is $perTick a tick: $bits bits of one $timeUnit', ({ timeUnit, bits, worker, end, perTick, perSecond }) => {
    const layout = layoutOf({ timeUnit, timeStampLength: bits, workIdLength: worker, endBitsLength: end });
    expect(layout.idsPerTick).toBe(perTick);
    expect(layout.maxSequence).toBe(perTick - 1);
    expect(layout.idsPerSecond).toBeCloseTo(perSecond, 6);
  });
});

const UNIT_MS = [0, 1, 1_000, 60_000, 3_600_000, 86_400_000];

describe('IDs of the original are decoded', () => {
  it('for at least one configuration', () => expect(vectors.length).toBeGreaterThan(0));

  it.each(vectors)(
    'unit $timeUnit, $timestampLength / $workerIdLength bits, end $endBitsLength = $endBitsValue',
    (vector) => {
      const layout = createLayout(
        {
          timeUnit: vector.timeUnit,
          startTimeStamp: vector.epoch,
          timeStampLength: vector.timestampLength,
          workIdLength: vector.workerIdLength,
          serviceMinWorkId: vector.minWorkerId,
          serviceMaxWorkId: vector.maxWorkerId,
          endBitsLength: vector.endBitsLength,
          endBitsValue: vector.endBitsValue,
          minLifetimeDays: 0,
        },
        vector.t0,
      );
      const parsed = vector.ids.map((id) => layout.unpack(BigInt(id)));
      const unit = UNIT_MS[vector.timeUnit]!;

      expect(parsed.length).toBeGreaterThan(0);
      parsed.forEach((parts, index) => {
        const before = parsed[index - 1];
        const time = layout.timeline.startOf(parts.tick);
        expect(parts.workerId).toBe(vector.workerId);
        expect(parts.endBits).toBe(vector.endBitsValue);
        expect(time).toBeGreaterThanOrEqual(Math.floor(vector.t0 / unit) * unit);
        expect(time).toBeLessThanOrEqual(Math.floor(vector.t1 / unit) * unit);
        // Sequences start at zero in every tick.
        expect(parts.sequence).toBe(before?.tick === parts.tick ? before.sequence + 1 : 0);
        expect(layout.pack(parts)).toBe(BigInt(vector.ids[index]!));
      });
    },
  );
});
