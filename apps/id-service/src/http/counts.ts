/** How many IDs or numbers a request may ask for, and how many one without `count` means. */
export interface CountRange {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

/** The routes whose query has a `count`. The limit of requests weighs them by it, as the routes themselves read it. */
export const COUNT_RANGES = {
  '/v1/ids': { min: 1, max: 10_000, default: 1 },
  '/v1/ids/stream': { min: 1, max: 10_000_000, default: 10_000 },
  '/v1/numbers/:code': { min: 1, max: 10_000, default: 1 },
} as const satisfies Record<string, CountRange>;

/** The count that a query means: the default where it gives none, undefined where what it gives is not legal. */
export function readCount(given: unknown, range: CountRange): number | undefined {
  if (given === undefined) return range.default;
  // Not Number() alone: it would take '', ' 5 ', '1e3' and '0x10'.
  if (typeof given !== 'string' || !/^\d{1,9}$/.test(given)) return undefined;
  const count = Number(given);
  return count >= range.min && count <= range.max ? count : undefined;
}
