import type { Layout, ResolvedLayout, WorkerTable } from '@raindrop/core';
import { judgeLayouts, LayoutConflictError } from '@raindrop/core/internal';
import { showNumber } from '../io/show-number.js';
import { fail, ok, warn, type Finding } from './finding.js';

const DAY_MS = 86_400_000;

/** How long the layout lasts, and whether others on the table can repeat its IDs. */
export function checkLayout(resolved: ResolvedLayout, table: WorkerTable, graceMs: number): Finding[] {
  return [checkLife(resolved, table), checkOthers(resolved.layout, table, graceMs)];
}

function checkLife({ layout, minLifetimeDays }: ResolvedLayout, { nowMs, layouts, rows }: WorkerTable): Finding {
  const { expiresAt } = layout;
  if (expiresAt === null) return ok('layout life', 'it ends beyond the year 275760');
  const days = Math.floor((expiresAt.getTime() - nowMs) / DAY_MS);
  const detail = `${showNumber(days)} days left, until ${expiresAt.toISOString()}`;
  const remedy = 'plan the next layout: another value of the end bits, or a new table';
  if (days < 0) return fail('layout life', `it ended at ${expiresAt.toISOString()}: no service starts`, remedy);
  const wasUsed = layouts.length > 0 || rows.some(({ code }) => code !== '');
  if (days < minLifetimeDays && !wasUsed) {
    return fail('layout life', `${detail}: a new table takes no layout of less than ${minLifetimeDays} days`, remedy);
  }
  return days < 365 ? warn('layout life', detail, remedy) : ok('layout life', detail);
}

/** As a start judges them: what it would refuse fails here. */
function checkOthers(layout: Layout, table: WorkerTable, graceMs: number): Finding {
  try {
    const floor = judgeLayouts(table, layout, graceMs);
    if (!Number.isFinite(floor.tick)) return ok('other layouts', 'none on this table that could repeat IDs');
    const last = new Date(layout.timeline.startOf(floor.tick)).toISOString();
    return ok('other layouts', `others issued here until ${last}: all new IDs are larger`);
  } catch (error) {
    if (!(error instanceof LayoutConflictError)) throw error;
    const { conflicts, clearsAtMs } = error;
    const list = conflicts.map(({ layout: other, workerIds }) =>
      workerIds.length > 0 ? `${other} (held by workers ${workerIds.join(', ')})` : `${other} (past)`,
    );
    const detail = `a start is refused: ${layout.fingerprint} could repeat IDs of ${list.join('; ')}`;
    const wait = clearsAtMs === undefined ? '' : `, or start after ${new Date(clearsAtMs).toISOString()}`;
    return fail('other layouts', detail, `go back to the layout of before, take another --end-value or --table${wait}`);
  }
}
