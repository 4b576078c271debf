import type { WorkerRange } from '@raindrop/core';

/** A number that lies in a range as it is, any other folded into it. */
export function foldIntoRange(number: number, { min, max }: WorkerRange): number {
  return number >= min && number <= max ? number : min + (number % (max - min + 1));
}
