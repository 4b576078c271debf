import type { Layout } from '@raindrop/core';

/** Says whether an ID can be one of a layout: by its size, and by the bits that are the same in all of them. */
export function layoutCheck(layout: Layout): (id: bigint) => boolean {
  const max = (1n << BigInt(layout.bits)) - 1n;
  let mask = 0n;
  let fixed = 0n;
  for (const { role, bits, shift, value } of layout.fields) {
    if (role !== 'fixed') continue;
    mask |= ((1n << BigInt(bits)) - 1n) << BigInt(shift);
    fixed |= BigInt(value ?? 0) << BigInt(shift);
  }
  return (id) => id <= max && (id & mask) === fixed;
}
