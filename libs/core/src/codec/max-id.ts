/** The largest ID: 2^63 - 1, the largest signed 64-bit integer. IDs are the bigints 0 to `MAX_ID`. */
export const MAX_ID = 9_223_372_036_854_775_807n;
