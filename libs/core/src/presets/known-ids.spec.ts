import fc from 'fast-check';
import { base32 } from '../codec/codecs.js';
import { type Layout, parseId } from '../layout/layout.js';
import { caught } from '../../../../test/support/engine/caught.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { ConfigurationError } from '../config/option-reader.js';
import { parseKeyWorkerId, presets } from './presets.js';

/** IDs that were issued by the systems themselves, with what the named source says of them. */
const KNOWN: readonly {
  what: string;
  source: string;
  layout: Layout;
  id: string;
  /** Exactly, or to the second where the source says no more. */
  time: string;
  parts?: { workerId?: number; sequence?: number; tick?: number };
}[] = [
  {
    what: 'the status in the reference of tweet objects, created_at "Wed Oct 10 20:19:24 +0000 2018"',
    source: 'https://developer.twitter.com/en/docs/tweets/data-dictionary/overview/tweet-object',
    layout: presets.twitter(),
    id: '1050118621198921728',
    time: '2018-10-10T20:19:24',
  },
  {
    what: 'a status whose parts are spelt out',
    source: 'https://en.wikipedia.org/wiki/Snowflake_ID',
    layout: presets.twitter(),
    id: '1541815603606036480',
    time: '2022-06-28T16:07:40.105Z',
    parts: { tick: 367_597_485_448, workerId: 378, sequence: 0 },
  },
  {
    what: 'the example of the developer documentation: worker 1, process 0, increment 7',
    source: 'https://discord.com/developers/docs/reference#snowflakes',
    layout: presets.discord(),
    id: '175928847299117063',
    time: '2016-04-30T11:18:25.796Z',
    parts: { tick: 41_944_705_796, workerId: 1 * 32 + 0, sequence: 7 },
  },
  {
    what: 'the media_id in the answer of the oEmbed documentation, whose html says datetime="2013-10-03T18:19:39+00:00"',
    source: 'https://www.instagram.com/developer/embedding/ (https://www.instagram.com/p/fA9uwTtkSN/)',
    layout: presets.instagram(),
    id: '558717847597368461',
    time: '2013-10-03T18:19:39',
  },
  {
    what: 'a public post of Las Vegas, taken_at_timestamp 1510722060',
    source: 'https://www.instagram.com/p/BbgN5SJF5rO/, the shortcode being the ID in base64url',
    layout: presets.instagram(),
    id: '1648378574712314574',
    time: '2017-11-15T05:01:00',
  },
  {
    what: 'the example of the article, 1387263000 ms after the epoch, user 31341 of 2000 shards, sequence 5001 % 1024',
    source: 'https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c',
    layout: presets.instagram(),
    id: String((1_387_263_000n << 23n) | (1_341n << 10n) | 905n),
    time: '2011-09-09T22:28:04.721Z',
    parts: { workerId: 1_341, sequence: 905 },
  },
  {
    what: 'the ID in the description',
    source: 'https://github.com/bingoohuang/westid',
    layout: presets.westid(),
    id: '1415384785396004',
    time: '2017-03-28T14:48:57.735+08:00',
    parts: { tick: 337_454_029, workerId: 426, sequence: 292 },
  },
  {
    what: 'an example that many articles on CachedUidGenerator give, with its own bits and epoch',
    source: 'the answer of parseUID there: "timestamp":"2019-05-02 23:26:39","workerId":"21","sequence":"1"',
    layout: presets.uidGenerator(),
    id: '3200169789968523265',
    time: '2019-05-02T23:26:39+08:00',
    parts: { workerId: 21, sequence: 1 },
  },
  {
    what: 'the example of the README, with the bits and the epoch that its configuration sets: "2017-01-19 12:15:46"',
    source: 'https://github.com/baidu/uid-generator',
    layout: presets.uidGenerator({ timeBits: 29, workerBits: 21, startTimeStamp: '2016-09-20T00:00:00+08:00' }),
    id: '180363646902239241',
    time: '2017-01-19T12:15:46+08:00',
    parts: { workerId: 4, sequence: 9 },
  },
  {
    what: 'the number in the README, of the day of the other examples there',
    source: 'https://github.com/f4b6a3/tsid-creator',
    layout: presets.tsid(),
    id: '38352658567418872',
    time: '2020-04-15T19:59:46.360Z',
  },
];

it.each(KNOWN)('$id is read as $time: $what', ({ layout, id, time, parts = {} }) => {
  const parsed = parseId(layout, id);
  if (/\.|Z|\+/.test(time)) expect(parsed.time).toEqual(new Date(time));
  else expect(parsed.time.toISOString().slice(0, 19)).toBe(time);
  expect(parsed).toMatchObject(parts);
  const { tick, workerId, clockBack, sequence } = parsed;
  expect(layout.pack({ tick, workerId, clockBack, sequence })).toBe(BigInt(id));
});

describe('What is known besides', () => {
  it('is that an Instagram shortcode is the ID in base64url', () => {
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const idOf = (code: string): bigint =>
      [...code].reduce((id, digit) => id * 64n + BigInt(digits.indexOf(digit)), 0n);
    expect(idOf('fA9uwTtkSN')).toBe(558_717_847_597_368_461n);
    expect(idOf('BbgN5SJF5rO')).toBe(1_648_378_574_712_314_574n);
  });

  it("is that a TSID's text is Crockford's base32 of 13 digits, and where the README says 'millisecond changed'", () => {
    const [last, first] = ['01226N0640J7T', '01226N0693HDA'].map((text) => {
      const parsed = parseId(presets.tsid(), base32.decode(text.replace(/^0/, '')));
      expect(base32.padded.encode(parsed.id)).toBe(text);
      return parsed.time.toISOString();
    });
    expect([last, first]).toEqual(['2020-04-15T20:22:07.665Z', '2020-04-15T20:22:07.666Z']);
  });

  it('is where the fields of a Sonyflake ID lie, the sequence above the machine', () => {
    // Version 1 of the original: elapsed << (8 + 16) | sequence << 16 | machine, in units of 10 ms.
    const id = (123_456_789n << 24n) | (200n << 16n) | 40_000n;
    expect(parseId(presets.sonyflake(), id)).toMatchObject({
      time: new Date(Date.parse('2014-09-01T00:00:00Z') + 1_234_567_890),
      sequence: 200,
      workerId: 40_000,
    });
  });

  it('is what a data centre adds to an ID of uid-generator', () => {
    const id = (93_137_199n << 35n) | (3n << 30n) | (21n << 13n) | 1n;
    const expected = { time: new Date('2019-05-02T23:26:39+08:00'), endBits: 3, workerId: 21, sequence: 1 };
    expect(parseId(presets.uidGeneratorGlobal({ datacenterId: 3 }), id)).toMatchObject(expected);
    // A service that issues for another centre reads it as well.
    expect(parseId(presets.uidGeneratorGlobal({ datacenterId: 7 }), id)).toMatchObject(expected);
  });
});

/** KeyWorker's arithmetic, in 64 bits that overflow like Java's: (time - epoch) << 22 | process << 17 | machine << 12 | n. */
function original(ms: number, process: number, machine: number, sequence: number): bigint {
  const time = BigInt.asIntN(64, BigInt(ms) - 12_888_349_746_579n);
  return BigInt.asIntN(64, (time << 22n) | BigInt((process << 17) | (machine << 12) | sequence));
}

describe('An ID that KeyWorker issued', () => {
  it.each([
    ['2018-07-21T00:00:00.000Z', 7_708_799_346_338_615_307n],
    ['2026-03-01T12:00:00.000Z', 8_716_418_806_639_415_307n],
    ['2029-12-29T10:11:08.818Z', 9_223_372_036_851_027_979n],
  ])('of %s is positive by overflow, and read as what it is', (at, id) => {
    expect(original(Date.parse(at), 3, 13, 11)).toBe(id);
    expect(parseKeyWorkerId(id)).toMatchObject({ time: new Date(at), workerId: 3 * 32 + 13, sequence: 11 });
    expect(parseKeyWorkerId(String(id)).id).toBe(id);
  });

  it('is read at any time from 1970 to the day on which they turn negative', () => {
    const end = Date.parse('2029-12-29T10:11:08.819Z');
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: end - 1 }),
        fc.nat(31),
        fc.nat(31),
        fc.nat(4_095),
        (ms, process, machine, n) => {
          const id = original(ms, process, machine, n);
          expect(id).toBeGreaterThan(0n);
          expect(parseKeyWorkerId(id)).toMatchObject({
            time: new Date(ms),
            workerId: process * 32 + machine,
            sequence: n,
          });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each(['2029-12-29T10:11:08.819Z', '2050-01-01T00:00:00.000Z', '2099-09-05T01:58:44.370Z'])(
    'of %s is negative, and read when it is made unsigned',
    (at) => {
      const id = original(Date.parse(at), 31, 31, 4_095);
      expect(id).toBeLessThan(0n);
      expect(() => parseKeyWorkerId(id)).toThrow(InvalidIdError);
      expect(parseKeyWorkerId(BigInt.asUintN(64, id)).time).toEqual(new Date(at));
    },
  );

  it('is not read by the layout that generates: it would be off by half a century', () => {
    const at = Date.parse('2018-07-21');
    const id = original(at, 3, 13, 11);
    const wrong = presets.keyWorker().timeline.startOf(presets.keyWorker().unpack(id).tick);
    expect(Math.abs(wrong - at) / 86_400_000).toBeGreaterThan(50 * 365);
  });
});

it('New IDs of the preset reach those that KeyWorker issued in January 2015 in July 2065', () => {
  const { timeline } = presets.keyWorker();
  const { tick } = parseKeyWorkerId(original(Date.parse('2015-01-01'), 0, 0, 0));
  expect(timeline.dateOf(tick)!.toISOString()).toMatch(/^2065-07-/);
});

it.each([12_888_349_746_579, -305_789_786_733])('KeyWorker cannot be generated with its epoch %d', (startTimeStamp) => {
  const { problems } = caught(ConfigurationError, () => presets.keyWorker({ startTimeStamp }));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ option: 'startTimeStamp', given: String(startTimeStamp) });
  expect(problems[0]!.message).toContain('parseKeyWorkerId()');
});
