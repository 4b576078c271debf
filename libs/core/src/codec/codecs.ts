import { base32, base32Check, base36, base58, base62, base62LowerFirst, base64url, hex } from './radix-codec.js';
import { decimal } from './decimal.js';
import type { IdCodec } from './id-codec.js';

const table = {
  decimal,
  'decimal-padded': decimal.padded,
  hex,
  'hex-padded': hex.padded,
  base32,
  'base32-padded': base32.padded,
  'base32-check': base32Check,
  'base32-check-padded': base32Check.padded,
  base36,
  'base36-padded': base36.padded,
  base58,
  'base58-padded': base58.padded,
  base62,
  'base62-padded': base62.padded,
  'base62-lower-first': base62LowerFirst,
  'base62-lower-first-padded': base62LowerFirst.padded,
  base64url,
} satisfies Record<string, IdCodec>;

/** The name of a codec, as a `format` parameter takes it. */
export type CodecName = keyof typeof table;

/**
 * Every codec by its name, frozen. It has no prototype: `codecs['constructor']` and `codecs['__proto__']` are undefined
 * like every other name that is not a codec's. `Object.keys(codecs)` lists the names.
 */
export const codecs: Readonly<Record<CodecName, IdCodec>> = Object.freeze(
  Object.assign(Object.create(null) as object, table),
);

/** Tells whether `name` names a codec: the check before `codecs[name]` for a name that came from outside. */
export function isCodecName(name: unknown): name is CodecName {
  return typeof name === 'string' && Object.hasOwn(codecs, name);
}
