import type { ResolvedLayout } from '@raindrop/core';

/** What a layout comes to, for the line of a start: how long it lasts, how fast it is, how many workers it has room for. */
export function startLine({ layout, workers }: ResolvedLayout, nowMs: number): string {
  const { expiresAt, safeUntil, idsPerSecond, fingerprint } = layout;
  const count = workers.max - workers.min + 1;
  const isExact = safeUntil !== null && safeUntil.getTime() > nowMs;
  const numbers = isExact
    ? `, exact JavaScript numbers ${isSame(safeUntil, expiresAt) ? 'all the time' : until(safeUntil)}`
    : '';
  return (
    `IDs ${until(expiresAt)}${numbers}; ${shown(idsPerSecond)} a second and process; ` +
    `${shown(count)} worker id${count === 1 ? '' : 's'} (layout ${fingerprint})`
  );
}

function until(moment: Date | null): string {
  return moment === null ? 'beyond the year 275760' : `until ${moment.toISOString().slice(0, 10)}`;
}

function isSame(one: Date, other: Date | null): boolean {
  return one.getTime() === other?.getTime();
}

/** Coarse units have fractions of an ID a second. */
function shown(count: number): string {
  return count.toLocaleString('en-US', { maximumSignificantDigits: count < 10 ? 2 : 21 });
}
