// The least that each technique costs in V8: what the real thing is compared with.
const READS_PER_VALUE = 256;

/** A 64-bit cell counted up. */
export function cellFloor() {
  const cell = new BigInt64Array([1n << 60n, 2n]);
  return () => {
    const id = cell[0];
    cell[0] = id + cell[1];
    return id;
  };
}

/** The same, with a clock that is read once per turn of the event loop and every 256 calls. */
export function turnFloor() {
  const next = cellFloor();
  const clock = { value: 0, left: 0 };
  let seen = 0;
  return () => {
    if (--clock.left < 0) {
      clock.value = Date.now();
      clock.left = READS_PER_VALUE;
    }
    if (clock.value !== seen) seen = clock.value;
    return next();
  };
}

/** The same, with the clock read at every call. */
export function exactFloor() {
  const next = cellFloor();
  let seen = 0;
  return () => {
    const now = Date.now();
    if (now !== seen) seen = now;
    return next();
  };
}

/** A safe number counted up, with the clock of a turn. */
export function numberFloor() {
  const clock = { value: 0, left: 0 };
  let id = 1;
  return () => {
    if (--clock.left < 0) {
      clock.value = Date.now();
      clock.left = READS_PER_VALUE;
    }
    return (id += 2);
  };
}

/** 1,000 cells written. */
export function fillFloor(target) {
  const cell = new BigInt64Array([1n << 60n, 2n]);
  return () => {
    for (let index = 0; index < target.length; index++) {
      target[index] = cell[0];
      cell[0] = cell[0] + cell[1];
    }
    return target;
  };
}

/** 1,000 bigints in a list. */
export function listFloor(count) {
  const cell = new BigInt64Array([1n << 60n, 2n]);
  return () => {
    const list = new Array(count);
    for (let index = 0; index < count; index++) {
      list[index] = cell[0];
      cell[0] = cell[0] + cell[1];
    }
    return list;
  };
}

/** 1,000 decimal texts in a list: a shared head and a tail from a table. */
export function textsFloor(count) {
  const tails = Array.from({ length: 10_000 }, (_, tail) => String(tail).padStart(4, '0'));
  let tail = 0;
  return () => {
    const list = new Array(count);
    const head = '115292150460684';
    for (let index = 0; index < count; index++) list[index] = head + tails[(tail = tail >= 9_998 ? 0 : tail + 2)];
    return list;
  };
}
