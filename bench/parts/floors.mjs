// The least that each technique costs in V8: what the real thing is compared with.
const CALLS_PER_LOOK = 256;

/** A clock that is read every 256 calls. */
class SharedClock {
  value = 0;
  left = 0;

  look() {
    this.value = Date.now();
    this.left = CALLS_PER_LOOK;
  }
}

/** A 64-bit cell counted up. */
export function cellFloor() {
  const cell = BigInt64Array.of(1n << 60n, 2n);
  return () => {
    const id = cell[0];
    cell[0] = id + cell[1];
    return id;
  };
}

/** The same, with a clock that is read every 256 calls. */
export function turnFloor() {
  const cell = BigInt64Array.of(1n << 60n, 2n);
  const clock = new SharedClock();
  let seen = 0;
  return () => {
    if (--clock.left < 0) clock.look();
    if (clock.value !== seen) seen = clock.value;
    const id = cell[0];
    cell[0] = id + cell[1];
    return id;
  };
}

/** The same, with the clock read at every call. */
export function exactFloor() {
  const cell = BigInt64Array.of(1n << 60n, 2n);
  let seen = 0;
  return () => {
    const now = Date.now();
    if (now !== seen) seen = now;
    const id = cell[0];
    cell[0] = id + cell[1];
    return id;
  };
}

/** The base of a tick plus a small offset. Above 2^31 V8 keeps a number on the heap, which is most of its price. */
export function numberFloor() {
  const clock = new SharedClock();
  const place = { base: 2 ** 50, offset: 0 };
  return () => {
    if (--clock.left < 0) clock.look();
    place.offset = (place.offset + 2) & 0x3fff_ffff;
    return place.base + place.offset;
  };
}

/** A head that 10,000 neighbours share and a tail from a table, with a clock that is read every 256 calls. */
export function textFloor() {
  const next = nextText();
  const clock = new SharedClock();
  return () => {
    if (--clock.left < 0) clock.look();
    return next();
  };
}

/** Cells written one after the other. */
export function fillFloor(target) {
  const cell = BigInt64Array.of(1n << 60n, 2n);
  return () => {
    for (let index = 0; index < target.length; index++) {
      target[index] = cell[0];
      cell[0] = cell[0] + cell[1];
    }
    return target;
  };
}

/** Bigints in a list. */
export function listFloor(count) {
  const cell = BigInt64Array.of(1n << 60n, 2n);
  return () => {
    const list = new Array(count);
    for (let index = 0; index < count; index++) {
      list[index] = cell[0];
      cell[0] = cell[0] + cell[1];
    }
    return list;
  };
}

/** Decimal texts in a list. */
export function textsFloor(count) {
  const next = nextText();
  return () => {
    const list = new Array(count);
    for (let index = 0; index < count; index++) list[index] = next();
    return list;
  };
}

function nextText() {
  const tails = Array.from({ length: 10_000 }, (_, tail) => String(tail).padStart(4, '0'));
  const place = { head: String(1n << 50n), tail: 0 };
  return () => {
    place.tail = place.tail >= 9_998 ? 0 : place.tail + 2;
    return place.head + tails[place.tail];
  };
}
