import { createInterface } from 'node:readline';

/** Writes `1,234,567`, the same on every host; a fraction below ten gets two decimals. */
export function showNumber(value: number): string {
  const digits = Number.isInteger(value) || value >= 10 ? 0 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** Writes a length of time in its two largest units: `1 m 5 s`. */
export function showDuration(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const;
  const first = units.findIndex(([, unit]) => Math.abs(ms) >= unit);
  if (first === -1) return `${Math.round(ms)} ms`;
  const [name, unit] = units[first]!;
  const next = units[first + 1];
  const rest = next === undefined ? 0 : Math.floor((Math.abs(ms) % unit) / next[1]);
  return `${Math.trunc(ms / unit)} ${name}${rest > 0 ? ` ${rest} ${next![0]}` : ''}`;
}

/** Writes rows as aligned columns, two spaces apart; numbers are aligned at the right. The first row is the head. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const body = rows.slice(1);
  const columns = (rows[0] ?? []).map((_, index) => ({
    width: Math.max(...rows.map((row) => (row[index] ?? '').length)),
    isNumeric: body.length > 0 && body.every((row) => /^[\d,.-]*$/.test(row[index] ?? '')),
  }));
  return rows.map((row) =>
    columns
      .map(({ width, isNumeric }, index) => {
        const cell = row[index] ?? '';
        return isNumeric ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Reads the lines of a stream, `most` at a time, trimmed and without empty ones. */
export async function* linesOf(stream: NodeJS.ReadableStream, most: number): AsyncGenerator<string[]> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    const text = line.trim();
    if (text !== '') lines.push(text);
    if (lines.length < most) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}

/** A URL's scheme, after which user and password stand. */
const SCHEME = /([a-z][a-z\d+.-]*:\/\/)/i;

/**
 * The last @ of a text that can end user and password: a password may hold spaces, slashes and an @. The @ of a package
 * such as `@raindrop/typeorm`, after a space, ends none.
 */
const LAST_AT = /^.*(?!(?<=[\s'"`(])@[a-z][\w.-]*\/)@/i;

/** What a URL with a password begins with: `user:password`. `localhost:5432`, `db.local:5432` and `[::1]` are hosts. */
const USER_AND_PASSWORD = /^(?!\[|(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}(?!\w))[^\s:/@]*:(?:\S|$)/i;

/** The parameters of a URL that hold a password: some drivers read `?password=...`. */
const PARAMETERS = /([?&](?:password|pass|pwd|sslpassword|sslkey)=)[^&\s'"]*/gi;

/** Hides user and password of each URL in a text: a message may quote a mistyped one. */
export function withoutSecrets(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split(SCHEME))
    .map(([before = '', ...urls]) => before + withoutCredentials(urls))
    .join('\n')
    .replace(PARAMETERS, '$1***');
}

/** @param urls schemes, and after each of them the text up to the next one */
function withoutCredentials([scheme, rest = '', ...others]: readonly string[]): string {
  if (scheme === undefined) return '';
  const hasPassword = USER_AND_PASSWORD.test(rest);
  // A password may end with a space, before what looks like a package.
  const end = (LAST_AT.exec(rest) ?? (hasPassword ? /^.*@/.exec(rest) : null))?.[0].length;
  // This password holds a ://.
  if (hasPassword && end === undefined && others.length > 0) {
    return withoutCredentials([scheme, rest + others[0]! + others[1]!, ...others.slice(2)]);
  }
  const isHidden = end !== undefined && (hasPassword || /^\S*@/.test(rest));
  return scheme + (isHidden ? `***@${rest.slice(end)}` : rest) + withoutCredentials(others);
}
