import { unusedRow } from '@raindrop/core';
import { MemoryWorkerTable } from '@raindrop/core/internal';
import type { WorkerRange, WorkerRow } from '@raindrop/core';
import { createHash } from 'node:crypto';

/** The first line: what it is, its format's number and the digest of the second line, which is JSON. */
const HEADER = /^raindrop-workers (\d+) ([0-9a-f]{64})\n/;
const FORMAT = 1;

/** Rows that nobody has used are kept as ranges of their ids: a thousand of them would take milliseconds to read. */
interface Stored {
  readonly unused: readonly WorkerRange[];
  readonly rows: readonly WorkerRow[];
  readonly deleted: readonly WorkerRow[];
  readonly layouts: readonly string[];
}

/** A text that is no state of workers, or not one that this release can read. */
export class UnreadableStateError extends Error {}

export function encodeWorkers({ rows, deleted, layouts }: MemoryWorkerTable): string {
  const all = [...rows.values()].sort((a, b) => a.id - b.id);
  const isUnused = (row: WorkerRow): boolean => row.version === 0;
  const stored: Stored = {
    unused: rangesOf(all.filter(isUnused).map(({ id }) => id)),
    rows: all.filter((row) => !isUnused(row)),
    deleted: [...deleted.values()],
    layouts: [...layouts],
  };
  const body = JSON.stringify(stored);
  return `raindrop-workers ${FORMAT} ${digestOf(body)}\n${body}\n`;
}

/** @throws UnreadableStateError */
export function decodeWorkers(text: string): MemoryWorkerTable {
  const match = HEADER.exec(text);
  if (match === null) throw new UnreadableStateError('it does not begin as it should');
  if (Number(match[1]) !== FORMAT) {
    throw new UnreadableStateError(`it was written by another release, in format ${match[1]}`);
  }
  const body = text.slice(match[0].length).replace(/\n$/, '');
  if (digestOf(body) !== match[2]) throw new UnreadableStateError('it was changed or cut: its digest is another one');
  // What has the right digest was written by encodeWorkers.
  const { unused, rows, deleted, layouts } = JSON.parse(body) as Stored;
  const table = new MemoryWorkerTable();
  for (const { min, max } of unused) {
    for (let id = min; id <= max; id++) table.rows.set(id, unusedRow(id));
  }
  for (const row of rows) table.rows.set(row.id, row);
  for (const row of deleted) table.deleted.set(row.id, row);
  for (const layout of layouts) table.layouts.add(layout);
  return table;
}

/** @param ids ascending */
function rangesOf(ids: readonly number[]): WorkerRange[] {
  const ranges: { min: number; max: number }[] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last?.max === id - 1) last.max = id;
    else ranges.push({ min: id, max: id });
  }
  return ranges;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
