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

/** User and password of a URL, up to the last @ of the line: a password may hold spaces, slashes and an @. */
const CREDENTIALS = /:\/\/[^\n]*@/g;

/** The parameters of a URL that hold a password: some drivers read `?password=...`. */
const PARAMETERS = /([?&](?:password|pass|pwd|sslpassword|sslkey)=)[^&\s'"]*/gi;

/** Hides passwords: a message may quote a mistyped URL. */
export function withoutSecrets(text: string): string {
  return text.replace(CREDENTIALS, '://***@').replace(PARAMETERS, '$1***');
}
