import type { LayoutOptions } from '@raindrop/nestjs';

/**
 * Seconds since 2026 for 272 years, 1,023 workers, 262,144 IDs a second for each of them. One end bit is left for the
 * day the layout is changed.
 */
export const serviceLayout = {
  timeUnit: 'second',
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 10,
  endBitsLength: 1,
} as const satisfies LayoutOptions;
