import { requireIdLike, type IdLike } from './to-id.js';

/**
 * Orders IDs by value, for `Array.prototype.sort`: decimal strings of different lengths too, which `<` does not, and
 * mixed types. Strings stay strings: the longer is the greater, and equal lengths compare as text.
 *
 * `sort` itself never shows `undefined` to a comparator: it moves them to the end.
 * @throws InvalidIdError when one of them is not an ID (see `toId`)
 */
export function compareIds(a: IdLike, b: IdLike): -1 | 0 | 1 {
  const left = requireIdLike(a);
  const right = requireIdLike(b);
  // Bigints and numbers compare exactly with one another.
  return typeof left === 'string' || typeof right === 'string'
    ? compareDecimals(String(left), String(right))
    : order(left < right, left > right);
}

function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  return a.length === b.length ? order(a < b, a > b) : order(a.length < b.length, true);
}

function order(less: boolean, greater: boolean): -1 | 0 | 1 {
  if (less) return -1;
  return greater ? 1 : 0;
}
