import type { OptionReader } from '../config/option-reader.js';
import type { Layout } from './layout.js';

/**
 * Reports a layout that can issue nothing now, although it can read: one that has expired, or whose epoch lies in the
 * future. For layouts that come ready made, presets among them; without this a service would start and refuse every ID.
 * @param option the one to name, `layout` or what decides the layout's life
 */
export function refuseOutsideLife(reader: OptionReader, option: string, layout: Layout, nowMs: number): void {
  const { epochMs, expiresAt, fingerprint, timeline, maxTick } = layout;
  if (timeline.tickAt(nowMs) < 0) {
    const since = new Date(epochMs).toISOString();
    reader.problem(option, fingerprint, `issues nothing before its epoch, ${since}: take a startTimeStamp of the past`);
  } else if (timeline.tickAt(nowMs) > maxTick) {
    const end = expiresAt === null ? 'every Date' : expiresAt.toISOString();
    const message =
      `has expired at ${end} and only reads: for new data take a later startTimeStamp or more timestamp bits, ` +
      `and keep this layout for parseId()`;
    reader.problem(option, fingerprint, message);
  }
}
