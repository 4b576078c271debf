import type { WorkerRange, WorkerTable } from '@raindrop/core';
import { describeWorker } from '@raindrop/node/internal';
import type { WorkerState } from '@raindrop/node';
import { fail, ok, warn, type Finding } from './finding.js';

/** Whether the range has its rows, and enough of them that a start can take. */
export function checkTable(table: WorkerTable, workers: WorkerRange, graceMs: number, isShared = false): Finding[] {
  const size = workers.max - workers.min + 1;
  const isOurs = ({ id }: { readonly id: number }): boolean => id >= workers.min && id <= workers.max;
  const rows = [
    ...table.rows.filter(isOurs).map((row) => describeWorker(row, table.nowMs, graceMs)),
    ...table.deleted.filter(isOurs).map((row) => describeWorker(row, table.nowMs, graceMs, true)),
  ];
  const idsIn = (...states: WorkerState[]): number[] =>
    rows.filter(({ state }) => states.includes(state)).map(({ workerId }) => workerId);
  const [held, takable, barred] = [idsIn('held'), idsIn('free', 'expired'), idsIn('used-up', 'foreign')];
  return [
    judgeRows(rows.length, size, isShared),
    judgeUse(held.length, takable.length, rows.length),
    barred.length === 0
      ? ok('unusable rows', 'none')
      : warn(
          'unusable rows',
          `${barred.length}: workers ${shortList(barred)}`,
          'look at raindrop workers: used-up rows free themselves, foreign ones two minutes after their programs have ended',
        ),
  ];
}

function judgeRows(present: number, size: number, isShared: boolean): Finding {
  if (present === size) return ok('rows', `all ${size} of the range`);
  const missing = `${size - present} of ${size} are missing`;
  if (isShared) return ok('rows', `${missing}: none is added where the original would take it as well`);
  return warn('rows', missing, 'run raindrop init; a start adds them too');
}

function judgeUse(held: number, takable: number, total: number): Finding {
  const detail = `${held} held, ${takable} to be had, ${total} in all`;
  const remedy = 'widen the range of worker ids: twice as many as nodes';
  if (total > 0 && takable === 0) return fail('free workers', detail, remedy);
  return held * 2 > total ? warn('free workers', detail, remedy) : ok('free workers', detail);
}

function shortList(ids: readonly number[]): string {
  return ids.length > 8 ? `${ids.slice(0, 8).join(', ')}, ...` : ids.join(', ');
}
