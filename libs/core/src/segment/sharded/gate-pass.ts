import { InvalidGatePassError, MAX_GATE_PASS_LENGTH } from './sharded-errors.js';

/** Every app's numbers are spread over so many shards. */
export const SHARDS = 64;

/**
 * Returns the shard of a gate pass: `Math.abs(hash) % 64` with the hash of Java's `String.hashCode`, so that programs
 * in other languages find the same one. What is written differently (`A@b.c` and `a@b.c`) has different shards.
 *
 * @param gatePass a user name, a phone number, an e-mail address: 1 to 512 UTF-16 units
 * @returns 0 to 63
 * @throws InvalidGatePassError
 */
export function shardOf(gatePass: string): number {
  if (typeof gatePass !== 'string' || gatePass.length < 1 || gatePass.length > MAX_GATE_PASS_LENGTH) {
    throw new InvalidGatePassError(gatePass);
  }
  // Where Math.abs differs from Java's, at -2^31, the remainder is 0 in both.
  return Math.abs(javaHashOf(gatePass)) % SHARDS;
}

/**
 * `s[0] * 31^(n-1) + ... + s[n-1]` over UTF-16 units, as a signed 32-bit integer.
 * @see https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/String.html#hashCode()
 */
function javaHashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
