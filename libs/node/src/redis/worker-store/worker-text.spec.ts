import fc from 'fast-check';
import type { WorkerWrite } from '@raindrop/core';
import { BLANK_ROW, CorruptRedisWorkerError, endOfWorkerText, readWorkerText } from './worker-text.js';

const integer = fc.maxSafeInteger();
const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\n'));

/** As the script writes it. */
function written(write: WorkerWrite, leaseUntilMs: number, nowMs: number): string {
  const { expected, token, layout } = write;
  const version = expected.version + 1;
  return [version, version, token, layout, leaseUntilMs, nowMs, endOfWorkerText(write)].join('\n');
}

/** A blank row with other lines. */
function blankWith(lines: Readonly<Record<number, string>>): string {
  return BLANK_ROW.split('\n')
    .map((line, index) => lines[index] ?? line)
    .join('\n');
}

describe('The text of a worker row', () => {
  it('gives back what was written', () => {
    const odometer = fc.record({ ms: integer, sequence: integer });
    const write = fc.record({
      id: fc.nat(1_023),
      expected: fc.record({ version: fc.nat(), token: text }),
      token: text,
      holder: text,
      layout: text,
      code: text,
      timeUnit: fc.nat(5),
      leaseMs: integer,
      lane: fc.constantFrom(0 as const, 1 as const),
      odometers: fc.tuple(odometer, odometer),
    });
    fc.assert(
      fc.property(write, integer, integer, (each, leaseUntilMs, nowMs) => {
        const { id, expected, token, holder, layout, code, lane, odometers } = each;
        const version = expected.version + 1;
        expect(readWorkerText('key', String(id), written(each, leaseUntilMs, nowMs), 0)).toEqual({
          id,
          version,
          ownVersion: version,
          token,
          holder,
          layout,
          code,
          lane,
          odometers,
          leaseUntilMs,
          heartbeatMs: nowMs,
        });
      }),
    );
  });

  it('keeps on one line what people read', () => {
    const write = {
      id: 1,
      expected: { version: 0, token: '' },
      token: 'a',
      holder: 'one\ntwo',
      layout: 'b',
      code: 'c\nd',
      lane: 0 as const,
      timeUnit: 1,
      leaseMs: 5,
      odometers: [
        { ms: 1, sequence: 2 },
        { ms: 3, sequence: 4 },
      ] as const,
    };
    expect(readWorkerText('key', '1', written(write, 1, 2), 0)).toMatchObject({ holder: 'one two', code: 'c d' });
  });

  it.each([
    [999, { ms: 1_000, sequence: 5 }],
    [1_000, { ms: 1_000, sequence: 2 ** 53 - 1 }],
    [1_001, { ms: 1_001, sequence: 2 ** 53 - 1 }],
    [0, { ms: 1_000, sequence: 5 }],
  ])('has no odometer below the end of the lost tick, %i', (lostUntilMs, odometer) => {
    const row = blankWith({ 7: '1000', 8: '5', 9: '1000', 10: '5' });
    expect(readWorkerText('key', '1', row, lostUntilMs).odometers).toEqual([odometer, odometer]);
  });

  it.each([
    ['nothing', ''],
    ['a line too few', BLANK_ROW.slice(0, BLANK_ROW.lastIndexOf('\n'))],
    ['a line too many', `${BLANK_ROW}\n`],
    ['a third lane', blankWith({ 6: '2' })],
    ['a fraction', blankWith({ 7: '1.5' })],
    ['an exponent', blankWith({ 7: '1e3' })],
    ['2^53', blankWith({ 7: '9007199254740992' })],
  ])('is refused when it is %s', (_, broken) => {
    const read = (): unknown => readWorkerText('raindrop.worker', '7', broken, 0);
    expect(read).toThrow(CorruptRedisWorkerError);
    expect(read).toThrow(expect.objectContaining({ key: 'raindrop.worker', workerId: '7', retryable: false }) as Error);
  });
});
