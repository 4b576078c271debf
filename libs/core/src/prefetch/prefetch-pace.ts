/**
 * How much shorter-lived a batch is than a segment: the step doubles when a batch was used up in under half a second, and
 * is halved when it lasted over one, where a segment has a quarter and half of an hour.
 */
export const PACE = (15 * 60_000) / 500;
