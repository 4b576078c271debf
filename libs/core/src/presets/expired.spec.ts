import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError, type ConfigurationProblem, OptionReader } from '../config/option-reader.js';
import { TimestampOverflowError } from '../layout/layout-errors.js';
import type { Layout } from '../layout/layout.js';
import { reportOutsideLife, type ResolvedLayout } from '../layout/layout-options.js';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { presets } from './presets.js';

const NOW = '2026-03-01T12:00:00.000Z';
const sample = 3_200_169_789_968_523_265n;

function resolved(layout: Layout): ResolvedLayout {
  return { layout, workers: { min: 1, max: 3 }, firstLane: 0, minLifetimeDays: 365, warnings: [] };
}

describe.each([
  ['uidGenerator', presets.uidGenerator(), presets.uidGenerator({ startTimeStamp: '2026-01-01' })],
  [
    'uidGeneratorGlobal',
    presets.uidGeneratorGlobal({ datacenterId: 0 }),
    presets.uidGeneratorGlobal({ datacenterId: 0, startTimeStamp: '2026-01-01' }),
  ],
] as const)('A layout that has expired, %s with its own epoch', (_, expired, renewed) => {
  it('reads', () => {
    const { generator } = new GeneratorBench({ layout: expired, wall: NOW });
    expect(generator.parse(sample).time).toEqual(new Date('2019-05-02T23:26:39+08:00'));
  });

  it('issues nothing, whichever call asks', async () => {
    const { generator } = new GeneratorBench({ layout: expired, wall: NOW });
    for (const ask of [
      () => generator.nextId(),
      () => generator.nextString('order'),
      () => generator.nextIds(10),
      () => generator.fill(new BigInt64Array(10)),
    ]) {
      const error = caught(TimestampOverflowError, ask);
      expect(error).toMatchObject({ errorCode: 'TIMESTAMP_OVERFLOW', retryable: false, maxTick: expired.maxTick });
      expect(error.message).toContain('a new table');
    }
    await expect(generator.nextIdAsync()).rejects.toThrow(TimestampOverflowError);
    expect(generator.counters.issued).toBe(0);
  });

  it('issued up to its last second', () => {
    const { generator, time } = new GeneratorBench({ layout: expired, wall: '2024-11-20T13:24:15.999Z' });
    expect(generator.parse(generator.nextId()).time).toEqual(new Date('2024-11-20T13:24:15Z'));
    time.step(1);
    expect(thrownBy(() => generator.nextId())).toBeInstanceOf(TimestampOverflowError);
  });

  it('issues with a later epoch', () => {
    const { generator } = new GeneratorBench({ layout: renewed, wall: NOW });
    expect(generator.parse(generator.nextId()).time).toEqual(new Date(NOW));
  });

  it('does not start on a new worker table', async () => {
    const bench = new KeeperBench({ database: new WorkerDatabase(NOW), resolved: resolved(expired) });
    const error = await bench.keeper.start().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).message).toContain('expires at 2024-11-20T13:24:16.000Z');
    await bench.keeper.close();
  });

  it('issues nothing on a table that it was used with', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 3 }, NOW);
    database.change(1, { layout: expired.fingerprint, code: 'x' });
    const bench = await KeeperBench.started({ database, resolved: resolved(expired) });
    expect(thrownBy(() => bench.generator.nextId())).toBeInstanceOf(TimestampOverflowError);
    expect(bench.generator.refusal()).toBeInstanceOf(TimestampOverflowError);
    await bench.keeper.close();
  });

  it('is told apart before a start', () => {
    const problemsWith = (layout: Layout): readonly ConfigurationProblem[] => {
      const reader = new OptionReader({});
      reportOutsideLife(reader, 'layout', layout, Date.parse(NOW));
      return reader.problems;
    };
    expect(problemsWith(expired)).toMatchObject([{ option: 'layout' }]);
    expect(problemsWith(renewed)).toEqual([]);
  });

  it('starts with a later epoch', async () => {
    const bench = await KeeperBench.started({ database: new WorkerDatabase(NOW), resolved: resolved(renewed) });
    expect(bench.generator.parse(bench.generator.nextId()).time).toEqual(new Date(NOW));
    await bench.keeper.close();
  });
});
