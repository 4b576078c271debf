const TRIES = 50;
const SHARP_MS = 0.1;

/**
 * How far this process's wall clock is ahead of the machine's monotonic one, ms, to a tenth of a millisecond: read at
 * the moment when the wall clock shows a new millisecond. The monotonic clock is the same for all processes.
 */
export function wallOffset(): number {
  let offset = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    const before = Date.now();
    let wall: number;
    let from: number;
    let now = monotonicMs();
    do {
      from = now;
      wall = Date.now();
      now = monotonicMs();
    } while (wall === before);
    offset = wall - now;
    // Otherwise the process was put aside just then.
    if (now - from < SHARP_MS) break;
  }
  return offset;
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
