import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { InvalidPartError } from './layout-errors.js';
import { type Field, type FieldRole, Layout, type LayoutParts, type LayoutShape } from './layout.js';
import { createLayout, type LayoutOptions } from './layout-options.js';

const now = Date.UTC(2023, 5, 1);

/** The time on top and below it one sequence, up to three worker fields, up to two fixed ones, in any order. */
const anyShape: fc.Arbitrary<LayoutShape> = fc
  .record({
    timeBits: fc.integer({ min: 1, max: 45 }),
    below: fc
      .tuple(
        fc.integer({ min: 1, max: 12 }).map((bits): Field[] => [{ name: 'sequence', role: 'sequence', bits }]),
        fc
          .array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 })
          .map((list) => list.map((bits, index): Field => ({ name: `worker${index}`, role: 'worker', bits }))),
        fc.constantFrom<Field[]>([], [{ name: 'clockBack', role: 'clockBack', bits: 1 }]),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat()), { maxLength: 2 }).map((list) =>
          list.map(([bits, value], index): Field => ({
            name: `fixed${index}`,
            role: 'fixed',
            bits,
            value: value % 2 ** bits,
          })),
        ),
      )
      .chain((lists) => {
        const fields = lists.flat();
        return fc.shuffledSubarray(fields, { minLength: fields.length });
      }),
    unitMs: fc.constantFrom(1, 10, 1_000, 60_000, 3_600_000, 86_400_000),
    epochMs: fc.integer({ min: -1e12, max: now }),
  })
  .map(({ timeBits, below, ...rest }) => ({
    fields: [{ name: 'time', role: 'time' as const, bits: timeBits }, ...below],
    ...rest,
  }))
  .filter(({ fields }) => fields.reduce((sum, { bits }) => sum + bits, 0) <= 64);

const TIME_BITS = [[41, 55], [31, 55], [25, 50], [19, 45], [15, 40]] as const; // prettier-ignore

/** Legal raindrop options, up to a single sequence bit. */
const raindropOptions: fc.Arbitrary<LayoutOptions> = fc
  .record({
    unit: fc.integer({ min: 0, max: 4 }),
    time: fc.nat(),
    workIdLength: fc.integer({ min: 3, max: 10 }),
    endBitsLength: fc.integer({ min: 0, max: 5 }),
    end: fc.nat(),
    startTimeStamp: fc.integer({ min: -1e11, max: now }),
  })
  .map(({ unit, time, end, ...rest }) => {
    const [min, max] = TIME_BITS[unit]!;
    const roomy = Math.min(max, 61 - rest.workIdLength - rest.endBitsLength);
    return {
      ...rest,
      timeUnit: (unit + 1) as 1,
      timeStampLength: min + (time % (roomy - min + 1)),
      endBitsValue: end % 2 ** rest.endBitsLength,
      minLifetimeDays: 0,
    };
  });

const anyLayout: fc.Arbitrary<Layout> = fc.oneof(
  anyShape.map((shape) => new Layout(shape)),
  raindropOptions.map((options) => createLayout(options, now)),
);

/** A layout and parts that fit it, the largest and the smallest among them. */
const packable: fc.Arbitrary<{ layout: Layout; parts: LayoutParts }> = anyLayout.chain((layout) => {
  const upTo = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constantFrom(0, max), fc.integer({ min: 0, max }));
  const fixedBits = layout.fields.reduce((sum, { role, bits }) => (role === 'fixed' ? sum + bits : sum), 0);
  return fc
    .record({
      tick: upTo(layout.maxTick),
      workerId: upTo(layout.maxWorkerId),
      clockBack: upTo(layout.hasClockBack ? 1 : 0),
      sequence: upTo(layout.maxSequence),
      endBits: upTo(2 ** fixedBits - 1),
    })
    .map((parts) => ({ layout, parts }));
});

/** The ID spelled out bit by bit: each role's number as binary text, dealt out to its fields from the left. */
function spelledOut({ fields }: Layout, parts: LayoutParts): bigint {
  const widths: Partial<Record<FieldRole, number>> = {};
  for (const { role, bits } of fields) widths[role] = (widths[role] ?? 0) + bits;
  const text = (role: FieldRole, value: number): string => value.toString(2).padStart(widths[role] ?? 0, '0');
  const left: Record<FieldRole, string> = {
    time: text('time', parts.tick),
    worker: text('worker', parts.workerId),
    clockBack: text('clockBack', parts.clockBack),
    sequence: text('sequence', parts.sequence),
    fixed: text('fixed', parts.endBits),
  };
  let id = '0b';
  for (const { role, bits } of fields) {
    id += left[role].slice(0, bits);
    left[role] = left[role].slice(bits);
  }
  return BigInt(id);
}

describe('any layout', () => {
  it('packs to the bits spelled out one by one, and unpacks to the same parts', () => {
    fc.assert(
      fc.property(packable, ({ layout, parts }) => {
        const id = layout.pack(parts);
        expect(id).toBe(spelledOut(layout, parts));
        expect(layout.unpack(id)).toEqual(parts);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('takes its own end bits when none are given', () => {
    fc.assert(
      fc.property(packable, ({ layout, parts }) => {
        const own = Number(
          `0b0${layout.fields.map(({ role, bits, value = 0 }) => (role === 'fixed' ? value.toString(2).padStart(bits, '0') : '')).join('')}`,
        );
        expect(layout.endBitsValue).toBe(own);
        expect(layout.pack({ ...parts, endBits: undefined })).toBe(layout.pack({ ...parts, endBits: own }));
      }),
    );
  });

  it('unpacks every number of its width to parts that pack to it', () => {
    fc.assert(
      fc.property(anyLayout, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (layout, bits) => {
        const id = BigInt.asUintN(Math.min(layout.bits, 63), bits);
        fc.pre(id >> BigInt(layout.lowBits) <= BigInt(layout.maxTick));
        expect(layout.pack(layout.unpack(id))).toBe(id);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('gives larger IDs to later ticks, and steps of one sequence within a tick', () => {
    fc.assert(
      fc.property(packable, ({ layout, parts }) => {
        if (parts.sequence < layout.maxSequence) {
          const next = layout.pack({ ...parts, sequence: parts.sequence + 1 });
          expect(next - layout.pack(parts)).toBe(BigInt(layout.sequenceStep));
        }
        if (parts.tick < layout.maxTick) {
          const later = layout.pack({ tick: parts.tick + 1, workerId: 0, clockBack: 0, sequence: 0, endBits: 0 });
          expect(later).toBeGreaterThan(layout.pack(parts));
        }
      }),
    );
  });

  it('knows exactly which ticks give safe numbers only', () => {
    fc.assert(
      fc.property(anyLayout, (layout) => {
        const { safeTicks, maxTick, lowBits } = layout;
        const largestOf = (tick: number): bigint => ((BigInt(tick) + 1n) << BigInt(lowBits)) - 1n;
        if (safeTicks > 0) expect(largestOf(safeTicks - 1)).toBeLessThan(2n ** 53n);
        if (safeTicks <= maxTick) expect(largestOf(safeTicks)).toBeGreaterThanOrEqual(2n ** 53n);
      }),
    );
  });
});

describe('the range of IDs of a moment', () => {
  const moments = packable.chain(({ layout, parts }) =>
    fc.integer({ min: 0, max: layout.unitMs - 1 }).map((offset) => ({
      layout,
      parts,
      ms: Math.min(layout.timeline.startOf(parts.tick) + offset, 8.64e15),
    })),
  );

  it('holds every ID of its tick and none of the ticks beside it', () => {
    fc.assert(
      fc.property(moments, ({ layout, parts, ms }) => {
        const [floor, ceil] = [layout.idFloor(ms), layout.idCeil(new Date(ms))];
        const id = layout.pack(parts);
        expect(id >= floor && id <= ceil).toBe(true);
        if (parts.tick > 0) expect(layout.pack({ ...parts, tick: parts.tick - 1 }) < floor).toBe(true);
        if (parts.tick < layout.maxTick) {
          expect(layout.pack({ ...parts, tick: parts.tick + 1 }) > ceil).toBe(true);
          expect(layout.idFloor(ms + layout.unitMs)).toBe(ceil + 1n);
        }
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('begins and ends at IDs that can be issued, end bits aside', () => {
    fc.assert(
      fc.property(moments, ({ layout, parts: { tick }, ms }) => {
        const low = { tick, workerId: 0, clockBack: 0, sequence: 0, endBits: 0 };
        expect(layout.idFloor(ms)).toBe(spelledOut(layout, low));
        expect(layout.idCeil(ms)).toBe(spelledOut(layout, low) + 2n ** BigInt(layout.lowBits) - 1n);
      }),
    );
  });

  it('is clamped to the life of the layout', () => {
    fc.assert(
      fc.property(anyLayout, fc.integer({ min: -8.64e15, max: 8.64e15 }), (layout, ms) => {
        const first = layout.timeline.startOf(0);
        const last = layout.timeline.startOf(layout.maxTick);
        const clamped = Math.min(Math.max(ms, first), last);
        expect(layout.idFloor(new Date(ms))).toBe(layout.idFloor(clamped));
        expect(layout.idCeil(new Date(ms))).toBe(layout.idCeil(clamped));
        expect(layout.idFloor(-Infinity)).toBe(0n);
        expect(layout.idCeil(Infinity)).toBe(layout.idCeil(last));
        expect(layout.idCeil(Infinity)).toBeLessThan(2n ** 63n);
      }),
    );
  });

  it('of no moment is refused', () => {
    const layout = createLayout({ startTimeStamp: 0, timeStampLength: 40, workIdLength: 5 }, now);
    for (const date of [Number.NaN, new Date(Number.NaN)]) {
      expect(() => layout.idFloor(date)).toThrow(InvalidPartError);
      expect(() => layout.idCeil(date)).toThrow('date = ');
    }
  });
});

describe('two layouts', () => {
  interface Tiny {
    readonly layout: Layout;
    readonly ids: ReadonlySet<bigint>;
  }

  /** Few bits, so that all their IDs can be listed. */
  function tiny(timeBits: number, sequenceBits: number, endBits: number, endValue: number): Tiny {
    const fields: Field[] = [
      { name: 'time', role: 'time', bits: timeBits },
      { name: 'worker', role: 'worker', bits: 1 },
      { name: 'sequence', role: 'sequence', bits: sequenceBits },
    ];
    if (endBits > 0) fields.push({ name: 'end', role: 'fixed', bits: endBits, value: endValue });
    const layout = new Layout({ fields, unitMs: 1_000, epochMs: 0 });
    const ids = new Set<bigint>();
    for (let tick = 0; tick <= layout.maxTick; tick++) {
      for (let workerId = 0; workerId <= 1; workerId++) {
        for (let sequence = 0; sequence <= layout.maxSequence; sequence++) {
          ids.add(layout.pack({ tick, workerId, clockBack: 0, sequence }));
        }
      }
    }
    return { layout, ids };
  }

  const all: Tiny[] = [];
  for (const timeBits of [3, 4]) {
    for (const sequenceBits of [1, 2]) {
      for (let endBits = 0; endBits <= 3; endBits++) {
        for (let value = 0; value < 2 ** endBits; value++) all.push(tiny(timeBits, sequenceBits, endBits, value));
      }
    }
  }

  it('are disjoint exactly when no ID of theirs is equal, for all small end bits', () => {
    let disjoint = 0;
    for (const one of all) {
      for (const other of all) {
        const shared = [...one.ids].some((id) => other.ids.has(id));
        if (one.layout.disjointFrom(other.layout) === shared) {
          throw new Error(`${one.layout.fingerprint} and ${other.layout.fingerprint}: shared ${shared}`);
        }
        if (!shared) disjoint++;
      }
    }
    expect(all).toHaveLength(60);
    expect(disjoint).toBeGreaterThan(1_000);
    expect(disjoint).toBeLessThan(3_000);
  });

  it('are not told apart by bits that are fixed elsewhere than at the end', () => {
    const fixedAbove = (value: number): Layout =>
      new Layout({
        fields: [
          { name: 'time', role: 'time', bits: 41 },
          { name: 'centre', role: 'fixed', bits: 5, value },
          { name: 'sequence', role: 'sequence', bits: 12 },
        ],
        unitMs: 1,
        epochMs: 0,
      });
    expect(fixedAbove(1).disjointFrom(fixedAbove(2))).toBe(false);
    expect(tiny(3, 1, 2, 1).layout.disjointFrom(fixedAbove(2))).toBe(false);
  });
});
