import { caught } from '../../../../test/support/engine/caught.js';
import { type Field, Layout, type LayoutParts } from './layout.js';
import { InvalidPartError, TimestampOverflowError } from './layout-errors.js';
import { createLayout, type LayoutOptions } from './layout-options.js';

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
