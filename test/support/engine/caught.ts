import { MAX_ID } from '../../../libs/core/src/codec/id-codec.js';

/** The error that `act` throws; fails when it is of another class or there is none. */
export function caught<E extends Error>(type: new (...args: never[]) => E, act: () => unknown): E {
  try {
    act();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`expected ${type.name}, but nothing was thrown`);
}

const RADICES = [2n, 10n, 16n, 32n, 36n, 58n, 62n, 64n];

const powers = RADICES.flatMap((radix) => Array.from({ length: 63 }, (_, exponent) => radix ** BigInt(exponent)));

/** Where digits, halves and widths change: around every power of every radix, ascending. */
export const EDGES: readonly bigint[] = [
  ...new Set([...powers.flatMap((power) => [power - 1n, power, power + 1n]), MAX_ID - 1n, MAX_ID]),
]
  .filter((id) => id <= MAX_ID)
  .sort((a, b) => (a < b ? -1 : 1));
