/** What a layout has to bear. */
export interface LayoutNeeds {
  /**
   * How many processes issue at the same time. As many again are kept for rolling deploys.
   * @range 1-1,023
   */
  processes: number;
  /**
   * How many IDs one of them issues in its busiest second.
   * @range 1-1,000,000,000
   */
  idsPerSecond: number;
  /**
   * For how many years from now on.
   * @range 1-1,000
   */
  years: number;
  /**
   * Whether IDs must be exact JavaScript numbers, up to 2^53 - 1, all these years.
   * @defaultValue false
   */
  numbers?: boolean;
}
