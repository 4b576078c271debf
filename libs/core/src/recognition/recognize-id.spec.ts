import fc from 'fast-check';
import { base62, codecs } from '../codec/codecs.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { typedId } from '../codec/typed-id.js';
import { createLayout, LASTING_LAYOUT, numberLayout } from '../layout/layout-options.js';
import { recognizeId, type IdReading, type Recognition } from './recognize-id.js';

const nowMs = Date.parse('2026-11-22T12:00:00Z');
const layout = createLayout({ startTimeStamp: '2024-03-01', timeStampLength: 32, workIdLength: 8 }, nowMs);

const recognize = (text: string, own = false): Recognition => recognizeId(text, own ? { nowMs, layout } : { nowMs });
const first = (text: string, own = false): IdReading | undefined => recognize(text, own).readings[0];
const own = (ms: number): bigint =>
  layout.pack({ tick: layout.timeline.tickAt(ms), workerId: 5, clockBack: 0, sequence: 3 });

describe('An ID that its system has published is recognised', () => {
  it.each([
    // https://discord.com/developers/docs/reference#snowflakes and the examples of users and guilds there
    ['175928847299117063', 'discord', '2016-04-30T11:18:25.796Z', 'likely'],
    ['80351110224678912', 'discord', '2015-08-10T17:26:37.529Z', 'likely'],
    ['197038439483310086', 'discord', '2016-06-27T17:20:24.770Z', 'likely'],
    ['41771983423143937', 'discord', '2015-04-26T06:26:56.934Z', 'likely'],
    // a message in the examples: its fields hold anything
    ['334385199974967042', 'discord', '2017-07-11T17:27:24.250Z', 'possible'],
    // https://developer.twitter.com/en/docs/tweets/data-dictionary/overview/tweet-object and https://en.wikipedia.org/wiki/Snowflake_ID
    ['1050118621198921728', 'twitter', '2018-10-10T20:19:24.211Z', 'likely'],
    ['1541815603606036480', 'twitter', '2022-06-28T16:07:40.105Z', 'likely'],
    ['210462857140252672', 'twitter', '2012-06-06T20:07:10.010Z', 'likely'],
    // the shortcodes of https://www.instagram.com/developer/embedding/
    ['fA9uwTtkSN', 'instagram', '2013-10-03T18:19:39.392Z', 'likely'],
    ['BbgN5SJF5rO', 'instagram', '2017-11-15T05:01:00.523Z', 'likely'],
    // the README of https://github.com/f4b6a3/tsid-creator, in its own base32
    ['01226N0640J7T', 'tsid', '2020-04-15T20:22:07.665Z', 'likely'],
    // articles on CachedUidGenerator
    ['3200169789968523265', 'uidGenerator', '2019-05-02T15:26:39.000Z', 'possible'],
    // as Mastodon's snowflake.rb makes them: Unix ms above 16 bits
    ['109349775826431187', 'mastodon', '2022-11-15T20:46:03.367Z', 'likely'],
  ] as const)('%s: %s', (text, system, time, plausibility) => {
    const found = first(text)!;
    expect([found.system, found.parsed.time.toISOString(), found.plausibility]).toEqual([system, time, plausibility]);
  });

  it.each([
    ['1415384785396004', 'westid', '2017-03-28T06:48:57.735Z'],
    ['558717847597368461', 'instagram', '2013-10-03T18:19:39.392Z'],
    ['38352658567418872', 'tsid', '2020-04-15T19:59:46.360Z'],
    ['180363646902239241', 'uidGeneratorReadme', '2017-01-19T04:15:46.000Z'],
    ['7708799346338615307', 'keyWorker', '2018-07-21T00:00:00.000Z'],
  ])('%s may be of several systems: %s is among those that are not ruled out by the time', (text, system, time) => {
    const found = recognize(text).readings.find((each) => each.system === system)!;
    expect(found.parsed.time.toISOString()).toBe(time);
    expect(found.reason).not.toMatch(/in the future|before its start/);
  });
});

describe('The same ID is read', () => {
  const ID = 175_928_847_299_117_063n;

  it.each([
    [`0x${ID.toString(16)}`, 'hex-0x'],
    [ID.toString(16), 'hex'],
    [ID.toString(16).toUpperCase(), 'hex-upper'],
    [ID.toString(16).padStart(16, '0'), 'hex-padded'],
    [String(ID).padStart(19, '0'), 'decimal-padded'],
    [`"${ID}",`, 'decimal'],
    [`${ID}n`, 'decimal'],
    ['175_928_847_299_117_063', 'decimal'],
    ['175,928,847,299,117,063', 'decimal'],
    [`  ${ID}\n`, 'decimal'],
    [`<@${ID}>`, 'decimal'],
    [`<:wave:${ID}>`, 'decimal'],
    [`https://discord.com/channels/80351110224678912/41771983423143937/${ID}`, 'decimal'],
  ])('in %s', (text, form) => {
    expect(first(text)).toMatchObject({ system: 'discord', plausibility: 'likely', form, parsed: { id: ID } });
  });

  it('in a link, which names the system whatever the bits say', () => {
    const { readings } = recognize('https://x.com/someone/status/175928847299117063?s=20');
    expect(readings.map(({ system }) => system)).toEqual(['twitter']);
    expect(recognize('https://www.instagram.com/p/fA9uwTtkSN/').readings).toHaveLength(1);
  });

  it('as a signed number of 64 bits', () => {
    const id = 2n ** 63n + 5n;
    const { readings } = recognize(String(BigInt.asIntN(64, id)));
    expect(readings.length).toBeGreaterThan(0);
    for (const { parsed, form } of readings) expect([parsed.id, form]).toEqual([id, 'signed']);
  });
});

describe("One's own layout", () => {
  it('comes first for its IDs, in every form that the codecs write', () => {
    const id = own(Date.parse('2026-05-04'));
    for (const codec of Object.values(codecs)) {
      const read = recognize(codec.encode(id), true).readings.find(({ system }) => system === 'own');
      expect(read?.parsed.id).toBe(id);
    }
    expect(first(String(id), true)).toMatchObject({ system: 'own', plausibility: 'likely', form: 'decimal' });
    expect(first(base62.encode(id), true)).toMatchObject({ system: 'own', plausibility: 'likely' });
  });

  it('is read behind a prefix', () => {
    const id = own(Date.parse('2026-05-04'));
    const text = typedId('order_item').encode(id);
    expect(first(text, true)).toMatchObject({
      system: 'own',
      prefix: 'order_item',
      form: 'base62-padded',
      parsed: { id },
    });
  });

  it("is unlikely for another system's ID, and the other system comes first", () => {
    const { readings } = recognize('1050118621198921728', true);
    expect(readings[0]).toMatchObject({ system: 'twitter', plausibility: 'likely' });
    expect(readings.find(({ system }) => system === 'own')).toMatchObject({ plausibility: 'unlikely' });
  });

  it('is never likely for IDs of the future or with other end bits', () => {
    const later = own(nowMs + 3 * 86_400_000);
    expect(recognize(String(later), true).readings.find(({ system }) => system === 'own')).toMatchObject({
      plausibility: 'unlikely',
      reason: 'this time is in the future',
    });
    const ended = createLayout(
      { startTimeStamp: '2024-03-01', timeStampLength: 32, workIdLength: 8, endBitsLength: 1, endBitsValue: 1 },
      nowMs,
    );
    const { readings } = recognizeId(String(own(Date.parse('2026-05-04')) & ~1n), { nowMs, layout: ended });
    expect(readings.find(({ system }) => system === 'own')).toMatchObject({ plausibility: 'unlikely' });
  });

  it('is the default one where none is given', () => {
    const { readings } = recognizeId('30077675337940992', { nowMs });
    expect(readings[0]).toMatchObject({ system: 'raindrop', plausibility: 'likely' });
  });
});

describe("An ID of the layout 'number'", () => {
  const ID = '238206311858190';
  const at = { nowMs: Date.parse('2026-11-26') };
  const found = { system: 'raindropNumber', plausibility: 'likely', parsed: { workerId: 52, sequence: 7 } };

  it('is recognised, and is not one of the default layout from another time', () => {
    const [best, ...others] = recognizeId(ID, at).readings;
    expect(best).toMatchObject({ ...found, title: "Raindrop's layout 'number'" });
    expect(best?.parsed.time.toISOString()).toBe('2026-11-25T15:53:25.000Z');
    expect(others.map(({ plausibility }) => plausibility)).not.toContain('likely');
  });

  it('is likely also where the own layout is the default one', () => {
    const options = { ...at, layout: LASTING_LAYOUT, workers: { min: 1, max: 64 } };
    expect(recognizeId(ID, options).readings[0]).toMatchObject(found);
  });

  it('is one of the own layout where that is the own layout', () => {
    const [best] = recognizeId(ID, { ...at, layout: numberLayout(), workers: { min: 1, max: 64 } }).readings;
    expect(best).toMatchObject({ ...found, system: 'own' });
  });

  it('leaves those of the default layout to it, of the same size in its first weeks', () => {
    const parts = { workerId: 5, clockBack: 0, sequence: 3 };
    const id = LASTING_LAYOUT.pack({ tick: 221_846, ...parts });
    expect(recognizeId(String(id), at).readings[0]).toMatchObject({ system: 'raindrop', plausibility: 'likely' });
  });
});

describe('An ID of a worker that the service does not have', () => {
  const workers = { min: 1, max: 64 };
  const idOf = (workerId: number): string =>
    String(LASTING_LAYOUT.pack({ tick: 28_000_000, workerId, clockBack: 0, sequence: 0 }));
  const ownOf = (workerId: number): IdReading | undefined =>
    recognizeId(idOf(workerId), { nowMs, layout: LASTING_LAYOUT, workers }).readings.find(
      ({ system }) => system === 'own',
    );

  it.each([0, 65, 937, 1_023])('is never likely: worker %i of 1 to 64', (workerId) => {
    expect(ownOf(workerId)).toMatchObject({
      plausibility: 'possible',
      reason: `worker ${workerId} is not one of 1 to 64`,
    });
  });

  it.each([1, 64])('while those of its workers are: worker %i', (workerId) => {
    expect(ownOf(workerId)?.plausibility).toBe('likely');
  });
});

describe('What is no snowflake', () => {
  it.each([
    ['018e9f2a-1b2c-7def-8abc-0123456789ab', 'UUID of version 7', '2024-04-02T14:15:20.620Z'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'UUID of version 1', '1998-02-04T22:13:53.151Z'],
    ['f47ac10b-58cc-4372-a567-0e02b2c3d479', 'UUID of version 4', undefined],
    ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'ULID', '2016-07-30T23:54:10.259Z'],
    ['507f1f77bcf86cd799439011', 'MongoDB ObjectId', '2012-10-17T21:13:27.000Z'],
    ['1700000000', 'Unix time in seconds', '2023-11-14T22:13:20.000Z'],
    ['1700000000000', 'Unix time in milliseconds', '2023-11-14T22:13:20.000Z'],
    ['42', 'plain number', undefined],
    ['-5', 'plain number', undefined],
  ])('%s is told as what it is: %s', (text, title, time) => {
    const { readings, foreign } = recognize(text);
    expect(foreign?.title).toBe(title);
    expect(foreign?.time?.toISOString()).toBe(time);
    expect(readings.filter(({ plausibility }) => plausibility !== 'unlikely')).toEqual([]);
  });

  it.each([
    '',
    '   ',
    'hello',
    'not an ID',
    '2026-11-25',
    '2026-11-25T10:30:00Z',
    '555-123-4567',
    '-5',
    '-42000000',
    '0x',
    '12345678901234567890123',
    '-',
    'x'.repeat(100_000),
    '\u0000',
    '🙂',
  ])('has no reading: %j', (text) => expect(recognize(text).readings).toEqual([]));
});

it('A small number is an own ID only where own IDs are small', () => {
  const options = { startTimeStamp: '2026-11-22', timeStampLength: 55, workIdLength: 3 };
  const small = createLayout(options, nowMs);
  const id = small.pack({ tick: 40_000, workerId: 1, clockBack: 0, sequence: 0 });
  expect(recognizeId(String(id), { nowMs, layout: small }).readings[0]).toMatchObject({ system: 'own' });
  expect(recognizeId(String(id), { nowMs, layout: small }).readings[0]?.plausibility).not.toBe('unlikely');
  const { readings } = recognize('1700000000000', true);
  expect(readings.filter(({ plausibility }) => plausibility !== 'unlikely')).toEqual([]);
});

describe('Whatever the text', () => {
  it.each([undefined, null, 1n, 12, {}, ['12'], { length: 1, trim: () => '12' }, Object.create(null)])(
    'what is no text is refused: %p',
    (given) => {
      expect(() => recognizeId(given as string)).toThrow(InvalidIdError);
    },
  );

  it('there is an answer, ranked, one reading for each system', () => {
    const rank = { likely: 0, possible: 1, unlikely: 2 };
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.bigInt({ min: -(2n ** 64n), max: 2n ** 65n }).map(String),
          fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(base62.encode),
        ),
        (text) => {
          const { readings } = recognize(text, true);
          const ranks = readings.map(({ plausibility }) => rank[plausibility]);
          expect(ranks).toEqual([...ranks].sort());
          expect(new Set(readings.map(({ system }) => system)).size).toBe(readings.length);
          expect(readings.filter(({ plausibility }) => plausibility === 'likely').length).toBeLessThan(2);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
