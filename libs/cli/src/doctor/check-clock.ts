import { showDuration } from '../io/show-number.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** Clocks that are kept by NTP are nearer than this; the way to the database is counted apart. */
const NEAR_MS = 1_000;

/**
 * How far this host's clock is from the database's.
 * @param before this host's clock before the database was asked, @param after afterwards
 */
export function checkClock(before: number, databaseMs: number, after: number, maxClockSkewMs: number): Finding {
  // The database looked at its clock somewhere in between.
  const offset = databaseMs < before ? before - databaseMs : Math.max(databaseMs - after, 0);
  const detail = `${showDuration(offset)} from the database's, ${showDuration(maxClockSkewMs)} are allowed`;
  const remedy = 'let NTP set the clocks of this host and of the database';
  if (offset > maxClockSkewMs) return fail('clock', detail, remedy);
  return offset > NEAR_MS ? warn('clock', detail, remedy) : ok('clock', detail);
}
