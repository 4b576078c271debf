import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '../config/option-reader.js';
import { ClockBeforeEpochError } from '../layout/layout-errors.js';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { presets } from './presets.js';

/** What is wrong, an option a line. */
function problemsOf(call: () => unknown): string[] {
  return caught(ConfigurationError, call).problems.map(
    ({ option, given, message }) => `${option} = ${given}: ${message}`,
  );
}

const call = (name: keyof typeof presets, options: unknown): unknown => presets[name](options as never);
const simple = ['twitter', 'westid', 'keyWorker', 'discord', 'instagram', 'sonyflake'] as const;

describe('The options of a preset', () => {
  it.each(Object.keys(presets) as (keyof typeof presets)[])('of %s are checked together', (name) => {
    expect(
      problemsOf(() => call(name, { startTimeStamp: 'soon', startTimestamp: 0, datacenterId: 3, node: 1 })),
    ).toEqual(
      expect.arrayContaining([
        `startTimeStamp = "soon": must be an ISO date such as '2024-01-01', a Date or Unix ms`,
        'startTimestamp = (number): is not an option; did you mean startTimeStamp?',
        expect.stringMatching(/^node = \(number\): is not an option/) as string,
      ]),
    );
    expect(problemsOf(() => call(name, null))).toEqual(['options = null: must be an object']);
  });

  it.each(simple)('of %s are the epoch alone', (name) => {
    expect(problemsOf(() => call(name, { sequenceBits: 12 }))).toEqual(['sequenceBits = (number): is not an option']);
    expect(presets[name]({ startTimeStamp: '2026-01-01T08:00:00+08:00' }).epochMs).toBe(Date.UTC(2026, 0, 1));
    expect(presets[name]({ startTimeStamp: new Date(5_000) }).epochMs).toBe(5_000);
    expect(presets[name]({ startTimeStamp: undefined }).fingerprint).toBe(presets[name]().fingerprint);
  });

  it.each([
    [{ timeBits: 29, workerBits: 21 }, 't29.w21.s13'],
    [{ timeBits: 31, workerBits: 20, sequenceBits: 12 }, 't31.w20.s12'],
    [{ sequenceBits: 1, workerBits: 9, timeBits: 53 }, 't53.w9.s1'],
  ])('of uidGenerator share out 63 bits: %j', (options, fields) => {
    expect(presets.uidGenerator(options).fingerprint).toBe(`1000@1463673600:${fields}`);
  });

  const together = 'timeBits, workerBits and sequenceBits must be 63 together';
  it.each([
    [{ timeBits: 29 }, [`timeBits = 29: with workerBits 22 and sequenceBits 13 makes 64 bits: ${together}`]],
    [{ sequenceBits: 12 }, [`timeBits = 28: with workerBits 22 and sequenceBits 12 makes 62 bits: ${together}`]],
    [
      { timeBits: 0, workerBits: '22', sequenceBits: 54 },
      [
        `timeBits = 0: is out of range: must be an integer from 1 to 53; ${together}`,
        `workerBits = "22": must be a number, not a string: use Number(...); ${together}`,
        `sequenceBits = 54: is out of range: must be an integer from 1 to 53; ${together}`,
      ],
    ],
    [{ seqBits: 13 }, ['seqBits = (number): is not an option']],
  ])('of uidGenerator are refused: %j', (options: object, problems) => {
    expect(problemsOf(() => presets.uidGenerator(options))).toEqual(problems);
  });

  it('of uidGeneratorGlobal name the data centre, and share out the other 58 bits', () => {
    const layout = presets.uidGeneratorGlobal({ datacenterId: 31, timeBits: 31, workerBits: 14 });
    expect(layout.fingerprint).toBe('1000@1463673600:t31.e5=31.w14.s13');
    expect(problemsOf(() => call('uidGeneratorGlobal', {}))).toEqual([
      'datacenterId = undefined: is required: an integer from 0 to 31',
    ]);
    expect(problemsOf(() => presets.uidGeneratorGlobal({ datacenterId: 32, timeBits: 30 }))).toEqual([
      'datacenterId = 32: is out of range: must be an integer from 0 to 31',
      'timeBits = 30: with workerBits 17 and sequenceBits 13 makes 60 bits: ' +
        'timeBits, workerBits and sequenceBits must be 58 together',
    ]);
  });

  it.each([0, 1, 8, 10, 20])('of tsid give the node %d bits, and the counter the rest of 22', (nodeBits) => {
    const layout = presets.tsid({ nodeBits });
    expect([layout.bits, layout.maxWorkerId, layout.idsPerTick]).toEqual([64, 2 ** nodeBits - 1, 2 ** (22 - nodeBits)]);
    const parts = { tick: 7, workerId: layout.maxWorkerId, clockBack: 0, sequence: 2 };
    expect(layout.unpack(layout.pack(parts))).toEqual({ ...parts, endBits: 0 });
  });

  it.each([[-1], [21], [1.5], [Number.NaN], ['10']])('of tsid do not give the node %p bits', (nodeBits: unknown) => {
    expect(problemsOf(() => call('tsid', { nodeBits }))).toEqual([
      expect.stringContaining('node and counter are 22 bits together'),
    ]);
  });

  it('may name an epoch in the future; then nothing is issued before it', () => {
    const { generator } = new GeneratorBench({
      layout: presets.twitter({ startTimeStamp: '2030-01-01' }),
      wall: '2029-12-31',
    });
    expect(thrownBy(() => generator.nextId())).toBeInstanceOf(ClockBeforeEpochError);
  });
});
