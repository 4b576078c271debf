import fc from 'fast-check';
import { caught } from '../../../../test/support/engine/caught.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { ConfigurationError } from '../config/option-reader.js';
import { parseKeyWorkerId, presets } from './presets.js';

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
