import { Layout, type ResolvedLayout, type WorkerTable } from '@raindrop/core';
import { shapeOfFingerprint } from '@raindrop/core/internal';
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

function checkOthers(layout: Layout, { rows, layouts, nowMs }: WorkerTable, graceMs: number): Finding {
  const live = rows.filter((row) => row.token !== '' && nowMs < row.leaseUntilMs + graceMs).map((row) => row.layout);
  const overlapping = (fingerprint: string): boolean => {
    if (fingerprint === '' || fingerprint === layout.fingerprint) return false;
    const shape = shapeOfFingerprint(fingerprint);
    return shape === undefined || !layout.disjointFrom(new Layout(shape));
  };
  const remedy = 'give this service another value of the end bits, or another --table';
  const rival = live.find(overlapping);
  if (rival !== undefined) return fail('other layouts', `${rival} issues here now and could repeat IDs`, remedy);
  const earlier = layouts.filter(overlapping);
  if (earlier.length === 0) return ok('other layouts', 'none on this table that could repeat IDs');
  const detail = `${earlier.join(', ')} issued here earlier: a start goes through only when new IDs are larger`;
  return warn('other layouts', detail, remedy);
}
