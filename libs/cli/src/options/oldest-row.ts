import type { Layout, LayoutOptions } from '@raindrop/core';
import { parseEpoch } from '@raindrop/core/internal';
import { InputError } from '../input-error.js';
import type { FlagValues } from './module-options.js';

/** Reads an ISO time or Unix ms. @throws InputError */
export function timeOf(what: string, text: string): number {
  const ms = parseEpoch(/^-?\d{5,16}$/.test(text) ? Number(text) : text);
  if (ms !== undefined) return ms;
  throw new InputError(`${what} ${text}: must be a time such as 2016-04-01, 2016-04-01T12:00:00Z or 1459512000000`);
}

/** What `--oldest` asks: when the oldest row was made that will ever get an ID of its own time, Unix ms. */
function oldestOf(flags: FlagValues): number | undefined {
  const text = flags['oldest'] as string | undefined;
  return text === undefined ? undefined : timeOf('--oldest', text);
}

/** The epoch that is proposed for a time: 1 January of its year. */
const epochFor = (ms: number): string => `${new Date(ms).getUTCFullYear()}-01-01`;

/** Refuses a layout that begins after the row of `--oldest`. @throws InputError */
export function requireOldest({ timeline }: Layout, flags: FlagValues): void {
  const ms = oldestOf(flags);
  if (ms === undefined || timeline.tickAt(ms) >= 0) return;
  throw new InputError(
    `--oldest ${String(flags['oldest'])}: the layout begins at ${new Date(timeline.startOf(0)).toISOString()}, and no ID is ` +
      `older than its layout. Before the first ID, give --start ${epochFor(ms)} (startTimeStamp: '${epochFor(ms)}'), and set ` +
      `it in every service. A worker table that has issued IDs keeps its layout`,
  );
}

/** The layout options with the epoch that `--oldest` needs, unless they name one. */
export function withOldest(layout: LayoutOptions, flags: FlagValues): LayoutOptions {
  const ms = oldestOf(flags);
  return ms === undefined || layout.startTimeStamp !== undefined ? layout : { ...layout, startTimeStamp: epochFor(ms) };
}
