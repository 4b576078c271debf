/**
 * How probable a field's value is where small ones are usual: half of the numbers lie around `mean` and fall off like a
 * counter that is seldom used, the others anywhere among `values`.
 * @param usual the share of the small ones, 0 to 1
 */
export function smallOdds(value: number, values: number, mean: number, usual = 0.5): number {
  const step = mean / (mean + 1);
  return usual * (1 - step) * step ** value + (1 - usual) / values;
}
