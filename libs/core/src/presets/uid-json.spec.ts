import { caught } from '../../../../test/support/engine/caught.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { ConfigurationError } from '../config/option-reader.js';
import { TimestampOverflowError } from '../layout/layout-errors.js';
import { Layout } from '../layout/layout.js';
import { presets } from './presets.js';
import { uidJson } from './uid-json.js';

const layout = presets.uidGenerator();
const sample = 3_200_169_789_968_523_265n;

/** An ID of this moment. */
function idAt(at: string): bigint {
  return layout.pack({ tick: layout.timeline.tickAt(Date.parse(at)), workerId: 21, clockBack: 0, sequence: 1 });
}

const timestampAt = (at: string, timeZone?: string): string =>
  (JSON.parse(uidJson(layout, idAt(at), { timeZone })) as { timestamp: string }).timestamp;

describe("The JSON of uid-generator's parseUID", () => {
  it.each([[sample], [String(sample)]])('is the original, letter for letter: %p', (id) => {
    expect(uidJson(layout, id, { timeZone: 'Asia/Shanghai' })).toBe(
      '{"UID":"3200169789968523265","timestamp":"2019-05-02 23:26:39","workerId":"21","sequence":"1"}',
    );
  });

  it('is in UTC unless a zone is named', () => {
    const utc = '{"UID":"3200169789968523265","timestamp":"2019-05-02 15:26:39","workerId":"21","sequence":"1"}';
    expect(uidJson(layout, sample)).toBe(utc);
    expect(uidJson(layout, sample, {})).toBe(utc);
    expect(uidJson(layout, sample, { timeZone: undefined })).toBe(utc);
  });

  it.each([
    ['2019-05-02T16:00:00Z', 'Asia/Shanghai', '2019-05-03 00:00:00'],
    ['2019-05-02T00:00:00Z', undefined, '2019-05-02 00:00:00'],
    ['2019-12-31T23:59:59Z', undefined, '2019-12-31 23:59:59'],
    ['2019-01-01T04:00:00Z', 'America/New_York', '2018-12-31 23:00:00'],
    ['2019-03-31T00:59:59Z', 'Europe/Berlin', '2019-03-31 01:59:59'],
    ['2019-03-31T01:00:00Z', 'Europe/Berlin', '2019-03-31 03:00:00'],
    ['2019-10-27T00:30:00Z', 'Europe/Berlin', '2019-10-27 02:30:00'],
    ['2019-10-27T01:30:00Z', 'Europe/Berlin', '2019-10-27 02:30:00'],
    ['2019-01-01T12:34:56Z', 'Asia/Kathmandu', '2019-01-01 18:19:56'],
  ])('says %s in %s as %s', (at, timeZone, expected) => expect(timestampAt(at, timeZone)).toBe(expected));

  it('is that of any layout, in whole seconds', () => {
    expect(uidJson(presets.discord(), '175928847299117063')).toBe(
      '{"UID":"175928847299117063","timestamp":"2016-04-30 11:18:25","workerId":"32","sequence":"7"}',
    );
    expect(uidJson(presets.discord(), 2n ** 64n - 1n)).toContain(
      '"UID":"18446744073709551615","timestamp":"2154-05-15',
    );
  });

  it('pads the years before 1000', () => {
    const fields = [
      { name: 'time', role: 'time' as const, bits: 50 },
      { name: 'sequence', role: 'sequence' as const, bits: 13 },
    ];
    const old = new Layout({ fields, unitMs: 1_000, epochMs: Date.parse('0099-02-03T04:05:06Z') });
    expect(uidJson(old, 0)).toContain('"timestamp":"0099-02-03 04:05:06"');
    expect(() => uidJson(old, 2n ** 63n - 1n)).toThrow(TimestampOverflowError);
  });

  it.each([['Asia/Peking'], [''], [8], [null], [{}]])('is refused in the zone %p', (timeZone: unknown) => {
    if (timeZone === null) return expect(uidJson(layout, sample, { timeZone } as never)).toContain('15:26:39');
    const { problems } = caught(ConfigurationError, () => uidJson(layout, sample, { timeZone } as never));
    expect(problems).toEqual([expect.objectContaining({ option: 'timeZone' })]);
    expect(problems[0]!.message).toContain("such as 'Asia/Shanghai'");
  });

  it('is refused for what is no ID, and for other options', () => {
    expect(() => uidJson(layout, 'x')).toThrow(InvalidIdError);
    expect(() => uidJson(layout, sample, { timezone: 'UTC' } as never)).toThrow('did you mean timeZone?');
  });
});
