import { vectors } from '../../../../test/support/engine/original-program.js';
import { createLayout } from './layout-options.js';

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
