/** Something else than a snowflake: it has no worker and no sequence. */
export interface ForeignId {
  readonly kind: 'uuid' | 'ulid' | 'objectId' | 'unixTime' | 'number';
  /** What it is, for people: `UUID of version 7`. */
  readonly title: string;
  /** When it was made, if it says so. */
  readonly time?: Date;
}

const UUID = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}\}?$/i;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;
const OBJECT_ID = /^[0-9a-f]{24}$/i;

/** Of 2001 to 2100: in seconds such a number has 10 digits, in milliseconds 12 or 13. */
const UNIX_SECONDS = { min: 978_307_200, max: 4_102_444_800 };

/** What counters reach; a snowflake is that small for a moment after its epoch. */
const MOST_COUNTED = 2 ** 40;

/** 100 ns between 1582-10-15, from which a UUID of version 1 counts, and 1970. */
const GREGORIAN_TICKS = 122_192_928_000_000_000n;

/** Tells what a text is that is no snowflake, or most probably none; undefined for all others. */
export function foreignId(text: string): ForeignId | undefined {
  if (/^\d{1,13}$/.test(text)) return numberOf(Number(text));
  const uuid = UUID.exec(text);
  if (uuid !== null) return uuidOf(uuid[1]!, uuid[2]!, uuid[3]!, uuid[4]!);
  if (OBJECT_ID.test(text)) {
    return {
      kind: 'objectId',
      title: 'MongoDB ObjectId',
      time: new Date(Number.parseInt(text.slice(0, 8), 16) * 1_000),
    };
  }
  return ULID.test(text) ? { kind: 'ulid', title: 'ULID', time: new Date(base32Ms(text.slice(0, 10))) } : undefined;
}

function numberOf(value: number): ForeignId | undefined {
  const isTime = (seconds: number): boolean => seconds >= UNIX_SECONDS.min && seconds < UNIX_SECONDS.max;
  if (isTime(value)) return { kind: 'unixTime', title: 'Unix time in seconds', time: new Date(value * 1_000) };
  if (isTime(value / 1_000)) return { kind: 'unixTime', title: 'Unix time in milliseconds', time: new Date(value) };
  return value < MOST_COUNTED ? { kind: 'number', title: 'plain number, as a counter gives it' } : undefined;
}

function uuidOf(low: string, middle: string, version: string, high: string): ForeignId {
  const id = { kind: 'uuid', title: `UUID of version ${Number.parseInt(version, 16)}` } as const;
  if (version === '7') return { ...id, time: new Date(Number.parseInt(low + middle, 16)) };
  if (version !== '1') return id;
  const ticks = BigInt(`0x${high}${middle}${low}`) - GREGORIAN_TICKS;
  return { ...id, time: new Date(Number(ticks / 10_000n)) };
}

function base32Ms(digits: string): number {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return [...digits.toUpperCase()].reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0);
}
