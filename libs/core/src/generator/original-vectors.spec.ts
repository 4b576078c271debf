import { createLayout, type LayoutOptions } from '../layout/layout-options.js';
import { vectors, type Vector } from '../../../../test/support/engine/original-program.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { SnowflakeGenerator } from './snowflake-generator.js';
import { StaticTenure } from './tenure.js';

function layoutOptions(vector: Vector): LayoutOptions {
  return {
    timeUnit: vector.timeUnit,
    startTimeStamp: vector.epoch,
    timeStampLength: vector.timestampLength,
    workIdLength: vector.workerIdLength,
    endBitsLength: vector.endBitsLength,
    endBitsValue: vector.endBitsValue,
    minLifetimeDays: 0,
  };
}

describe('IDs of the original', () => {
  it('are at hand for every unit', () => {
    expect(new Set(vectors.map(({ timeUnit }) => timeUnit))).toEqual(new Set([1, 2, 3, 4, 5]));
  });

  it.each(vectors)(
    'come out bit for bit: unit $timeUnit, $timestampLength timestamp bits, worker $workerId',
    (vector) => {
      const layout = createLayout(layoutOptions(vector), vector.t0);
      const first = layout.unpack(BigInt(vector.ids[0]!));
      expect(first.workerId).toBe(vector.workerId);
      expect(first.tick).toBeGreaterThanOrEqual(layout.timeline.tickAt(vector.t0));
      expect(first.tick).toBeLessThanOrEqual(layout.timeline.tickAt(vector.t1));
      const time = new VirtualTime(0);
      const tenure = new StaticTenure(vector.workerId, first.clockBack === 1 ? 1 : 0);
      const generator = new SnowflakeGenerator({ layout, tenure }, time);
      const ids = vector.ids.map((id) => {
        time.setWall(layout.timeline.startOf(layout.unpack(BigInt(id)).tick));
        return generator.nextString();
      });
      expect(ids).toEqual(vector.ids);
    },
  );

  it.each([
    {
      what: 'ticks count from the start of the unit in which the epoch lies',
      options: { timeUnit: 'second', startTimeStamp: '2023-01-01T00:00:00.500Z', timeStampLength: 31 },
      wall: '2023-01-01T00:00:02.250Z',
      worker: 5,
      lane: 0,
      // tick 2 << 32 | worker 5 << 22
      ids: [8_610_906_112n, 8_610_906_113n],
    },
    {
      what: 'the clock-back bit lies below the worker',
      options: { timeUnit: 'second', startTimeStamp: '2023-01-01T00:00:00.500Z', timeStampLength: 31 },
      wall: '2023-01-01T00:00:02.250Z',
      worker: 5,
      lane: 1,
      // the same and 1 << 21
      ids: [8_613_003_264n, 8_613_003_265n],
    },
    {
      what: 'the epoch in the middle of a minute, the other lane and an end bit at once',
      options: {
        timeUnit: 'minute',
        startTimeStamp: '2023-01-01T12:00:30Z',
        timeStampLength: 25,
        endBitsLength: 1,
        endBitsValue: 1,
      },
      wall: '2023-01-01T12:02:10Z',
      worker: 3,
      lane: 1,
      // tick 2 << 38 | worker 3 << 28 | lane 1 << 27 | 1
      ids: [550_695_337_985n, 550_695_337_987n],
    },
  ] as const)('by hand: $what', ({ options, wall, worker, lane, ids }) => {
    const time = new VirtualTime(wall);
    const layout = createLayout({ ...options, workIdLength: 10 }, time.wall);
    const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(worker, lane) }, time);
    expect([generator.nextId(), generator.nextId()]).toEqual(ids);
  });
});
