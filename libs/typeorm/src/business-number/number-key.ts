/** What is counted by itself. */
export interface NumberKey {
  readonly series: string;
  /** '' for none. */
  readonly per: string;
  /** '', `2026`, `2026-03` or `2026-03-14`. */
  readonly period: string;
}
