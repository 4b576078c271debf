import { MAX_DATE_MS } from './timeline.js';

const HOUR = String.raw`[01]\d|2[0-3]`;
const TIME = String.raw`(${HOUR}):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?`;
const ISO = new RegExp(String.raw`^(\d{4})-(\d\d)-(\d\d)(?:[T ]${TIME}(Z|[+-](?:${HOUR}):?[0-5]\d)?)?$`, 'i');

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
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', zone] = match;
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (midnight.getUTCMonth() !== Number(month) - 1) return undefined;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return midnight.getTime() + seconds * 1_000 + Number(fraction.padEnd(3, '0')) - zoneOffsetMs(zone);
}

function zoneOffsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))) * 60_000;
}
