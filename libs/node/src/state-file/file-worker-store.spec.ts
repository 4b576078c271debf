import fc from 'fast-check';
import { MemoryWorkerTable, resolveLeaseOptions } from '@raindrop/core/internal';
import type { WorkerRow } from '@raindrop/core';
import { decodeWorkers, encodeWorkers, stateFileLease, UnreadableStateError } from './file-worker-store.js';

const integer = fc.maxSafeInteger();

const odometer = fc.record({ ms: integer, sequence: integer });

const used: fc.Arbitrary<Omit<WorkerRow, 'id'>> = fc.record({
  version: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  ownVersion: integer,
  token: fc.string(),
  holder: fc.string({ unit: 'grapheme' }),
  layout: fc.string(),
  leaseUntilMs: integer,
  lane: fc.constantFrom(0 as const, 1 as const),
  odometers: fc.tuple(odometer, odometer),
  code: fc.string({ unit: 'binary' }).filter((text) => !/\p{Surrogate}/u.test(text)),
  heartbeatMs: integer,
});

const unused: Omit<WorkerRow, 'id'> = {
  version: 0,
  ownVersion: 0,
  token: '',
  holder: '',
  layout: '',
  leaseUntilMs: 0,
  lane: 0,
  odometers: [
    { ms: 0, sequence: -1 },
    { ms: 0, sequence: -1 },
  ],
  code: '',
  heartbeatMs: 0,
};

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(60), fc.oneof(used, fc.constant(unused))), { selector: ([id]) => id })
  .map((all) => new Map(all.map(([id, row]) => [id, { id, ...row }])));

function tableOf(
  rows: ReadonlyMap<number, WorkerRow>,
  deleted: ReadonlyMap<number, WorkerRow>,
  layouts: string[],
): MemoryWorkerTable {
  const table = new MemoryWorkerTable();
  rows.forEach((row, id) => table.rows.set(id, row));
  deleted.forEach((row, id) => table.deleted.set(id, row));
  layouts.forEach((layout) => table.layouts.add(layout));
  return table;
}

describe("The state file's text", () => {
  it('says everything, and the same of the same table', () => {
    fc.assert(
      fc.property(rows, rows, fc.array(fc.string()), (some, others, layouts) => {
        const table = tableOf(some, others, layouts);
        const text = encodeWorkers(table);
        expect(decodeWorkers(text)).toEqual(table);
        expect(encodeWorkers(decodeWorkers(text))).toBe(text);
      }),
    );
  });

  it('is not read when any of it was changed, cut or added to', () => {
    fc.assert(
      fc.property(rows, fc.nat(), fc.nat(2), fc.integer({ min: 1, max: 127 }), (some, place, kind, other) => {
        const text = encodeWorkers(tableOf(some, new Map(), ['x']));
        const at = place % text.length;
        const changed = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ other) + text.slice(at + 1);
        const damaged = [changed, text.slice(0, at), text.slice(0, at) + '\n' + text.slice(at)][kind]!;
        // The end of line at the very end says nothing.
        fc.pre(damaged !== text && damaged.trimEnd() !== text.trimEnd());
        expect(() => decodeWorkers(damaged)).toThrow(UnreadableStateError);
      }),
      { numRuns: 500 },
    );
  });
});

it('the lease that is proposed for it is a legal one', () => {
  expect(resolveLeaseOptions(stateFileLease)).toMatchObject({ leaseMs: 3_000, horizonMs: 3_000, graceMs: 0 });
});
