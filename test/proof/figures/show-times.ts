/** A series of times for people: its median and its maximum. */
export function showTimes(times: readonly number[]): string {
  return `${median(times).toFixed(1)} ms, max ${Math.max(...times).toFixed(1)} ms of ${times.length}`;
}

/** Of an even number the upper one. */
export function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}
