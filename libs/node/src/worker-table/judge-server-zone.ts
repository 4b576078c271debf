import { ForeignTimeZoneError } from '@raindrop/core/internal';
import { offsetMs, offsetText } from '../database/zone-offset.js';

/**
 * The original's programs start only where their zone is the server's, so that is the one in which they read our times.
 * @param offsets what `Dialect.serverZone` selects
 * @throws ForeignTimeZoneError
 */
export function judgeServerZone(foreignTimeZone: string, offsets: Readonly<Record<string, unknown>>): void {
  const [now, least, most] = [Number(offsets['now']), Number(offsets['least']), Number(offsets['most'])];
  const zones = [now, ...[least, most].filter((each) => each !== now)].map(offsetText);
  if (zones.length > 1 || now * 60_000 !== offsetMs(foreignTimeZone)) {
    throw new ForeignTimeZoneError(foreignTimeZone, zones);
  }
}
