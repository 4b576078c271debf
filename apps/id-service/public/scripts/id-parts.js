/** The number in one field of an ID. */
export function fieldValue({ bits, shift }, id) {
  return Number((id >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
}
