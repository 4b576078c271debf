const HEX = /^(?:[0-9a-f]{32}|[0-9a-f]{48}|[0-9a-f]{64})$/i;
const BASE64URL = /^(?:[\w-]{22}|[\w-]{32}|[\w-]{43})$/;
const SIZES: readonly number[] = [16, 24, 32];

/** What a key has to be, for messages. */
export const LEGAL_KEY =
  'must be 16, 24 or 32 bytes, as a Uint8Array or as text in hex or in base64url without padding; ' +
  'make one with: node -p "crypto.randomBytes(32).toString(\'hex\')"';

/**
 * The bytes of an AES key, as a copy; undefined when it is none. Texts that can be hex are hex: 32 hex digits are 16
 * bytes, though in base64url they would be 24.
 */
export function readSecretKey(given: unknown): Uint8Array | undefined {
  if (given instanceof Uint8Array) return SIZES.includes(given.length) ? Uint8Array.from(given) : undefined;
  if (typeof given !== 'string') return undefined;
  if (HEX.test(given)) return Uint8Array.from(Buffer.from(given, 'hex'));
  if (!BASE64URL.test(given)) return undefined;
  const bytes = Buffer.from(given, 'base64url');
  // Bits that are left over must be zero, else two texts are one key.
  return bytes.toString('base64url') === given ? Uint8Array.from(bytes) : undefined;
}

/** Whether it is a placeholder: all zeros, or another byte over and over. */
export function isPlaceholder(key: Uint8Array): boolean {
  return key.every((byte) => byte === key[0]);
}
