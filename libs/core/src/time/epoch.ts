import { MAX_DATE_MS } from './timeline.js';

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * The Unix ms of an epoch given as an ISO string, a Date or Unix ms; undefined when it is none of these.
 *
 * A string without a zone is UTC on every host (JavaScript would read a date with a time as local time), and a day that
 * the calendar does not have is refused (JavaScript would roll 30 February over to March).
 */
export function parseEpoch(given: unknown): number | undefined {
  const ms = given instanceof Date ? given.getTime() : typeof given === 'string' ? parseIso(given.trim()) : given;
  return typeof ms === 'number' && Number.isInteger(ms) && Math.abs(ms) <= MAX_DATE_MS ? ms : undefined;
}

function parseIso(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number, number, number, number, number, number,
  ]; // prettier-ignore
  const utc = new Date(Date.UTC(year, month - 1, day, hour, minute, second, Number((match[7] ?? '').padEnd(3, '0'))));
  const exists =
    utc.getUTCFullYear() === year &&
    utc.getUTCMonth() === month - 1 &&
    utc.getUTCDate() === day &&
    utc.getUTCHours() === hour;
  if (!exists || minute > 59 || second > 59) return undefined;
  return utc.getTime() - zoneOffsetMs(match[8]);
}

function zoneOffsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))) * 60_000;
}
