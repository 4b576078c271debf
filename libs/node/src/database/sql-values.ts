import { ConfigurationError } from '@raindrop/core';

/** An integer of at most 2^53 - 1 in whichever form the driver gave it; undefined when it is anything else. */
export function safeInteger(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^-?\d{1,16}$/.test(value);
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}

/** An offset from UTC in minutes as text: `+08:00`. */
export function offsetText(minutes: number): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/**
 * The milliseconds of an offset from UTC such as `+08:00`. Names of zones are refused: in the repeated hour of a zone
 * with summer time a `datetime` has two meanings.
 *
 * @throws ConfigurationError
 */
export function offsetMs(zone: string): number {
  const match = /^([+-])(0\d|1[0-4]):([0-5]\d)$/.exec(zone);
  if (match === null) {
    const message = "must be an offset from UTC in hours and minutes, such as '+08:00'";
    throw new ConfigurationError([{ option: 'foreignTimeZone', given: String(zone).slice(0, 60), message }]);
  }
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
}
