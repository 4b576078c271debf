/** The result of a check of precision in which nothing rounds IDs. */
export interface PrecisionReport {
  /** The columns whose largest ID came back digit for digit: `orders.id`, or `orders.id in JSON`. */
  readonly exact: readonly string[];
  /** The losses of digits that no setting prevents, and the columns that the database still fills, each with what to do. */
  readonly warnings: readonly string[];
}

/** Whether a driver's value has the digits of an ID. */
export function hasDigitsOf(id: bigint, value: unknown): boolean {
  return (
    (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') && `${value}` === `${id}`
  );
}
