/** `1,234,567`, the same on every host; two decimals below ten. */
export function showNumber(value: number): string {
  const digits = Number.isInteger(value) || value >= 10 ? 0 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** A length of time in the two largest units that fit: `1 m 5 s`. */
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
