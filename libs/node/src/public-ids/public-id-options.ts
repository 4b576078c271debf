import { type CodecName, codecs, type IdCodec } from '@raindrop/core';
import { isCodecName, OptionReader } from '@raindrop/core/internal';
import type { PublicIdBits } from './public-ids.js';

const KEY_ID = /^[A-Za-z0-9]{1,8}$/;
const PURPOSE = /^[\w.:-]{1,64}$/;

/** The keys, and what the IDs look like. */
export interface PublicIdOptions {
  /**
   * The secret keys by their ids of 1 to 8 letters and digits, which stand in the texts. AES keys: 16, 24 or 32 random
   * bytes, as `Uint8Array` (copied) or as text in hex or base64url.
   */
  keys: Readonly<Record<string, string | Uint8Array>>;
  /** The id of the key that conceals from now on; the others only reveal. */
  current: string;
  /** How many bits the IDs have: 63, or 53 where every one of them is a safe JavaScript number. Default 63. */
  bits?: PublicIdBits;
  /**
   * What is identified, such as `order`: another purpose gives unrelated texts for the same ID. It is no secret, and it
   * cannot be changed later. 1 to 64 letters, digits and any of . : _ -; default none.
   */
  purpose?: string;
  /** How the concealed number is written. Default `base62-padded`. */
  codec?: PublicIdText;
}

/** The codecs whose texts are all of one width: where it begins, the key's id before it ends. */
export type PublicIdText = Extract<CodecName, `${string}-padded` | 'base64url'>;

/** {@link PublicIdOptions}, checked. */
interface ResolvedPublicIdOptions {
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly current: string;
  readonly bits: PublicIdBits;
  readonly tweak: Uint8Array;
  readonly codec: IdCodec;
}

/**
 * No message shows a value: in the wrong place it may be a key.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolvePublicIdOptions(options: PublicIdOptions): ResolvedPublicIdOptions {
  const reader = new OptionReader(options);
  const keys = readKeys(reader);
  const current = readCurrent(reader, keys);
  const bits = readBits(reader);
  const purpose = reader.value('purpose') ?? '';
  if (typeof purpose !== 'string' || (purpose !== '' && !PURPOSE.test(purpose)))
    refuse(reader, 'purpose', purpose, 'must be 1 to 64 letters, digits or any of . : _ -');
  const codec = readCodec(reader);
  reader.finish();
  return { keys, current, bits, tweak: new TextEncoder().encode(purpose as string), codec };
}

function readKeys(reader: OptionReader): Map<string, Uint8Array> {
  const given = reader.value('keys');
  const keys = new Map<string, Uint8Array>();
  if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given)) {
    refuse(reader, 'keys', given, 'must be an object of keys by their ids: { k1: key }');
    return keys;
  }
  const entries = Object.entries(given);
  if (entries.length === 0) refuse(reader, 'keys', given, 'must hold a key: { k1: key }');
  for (const [index, [id, key]] of entries.entries()) {
    if (KEY_ID.test(id)) readKey(reader, keys, id, key);
    // What stands there may be the key itself.
    else refuse(reader, 'keys', given, `the id of key ${index + 1} must be 1 to 8 letters or digits (A-Za-z0-9)`);
  }
  return keys;
}

function readKey(reader: OptionReader, keys: Map<string, Uint8Array>, id: string, given: unknown): void {
  const key = readSecretKey(given);
  const twin = key && [...keys].find(([, other]) => equal(other, key));
  if (key === undefined) refuse(reader, `keys.${id}`, given, LEGAL_KEY);
  else if (isPlaceholder(key)) refuse(reader, `keys.${id}`, given, 'is one byte over and over; it must be random');
  else if (twin)
    refuse(reader, `keys.${id}`, given, `is the same key as keys.${twin[0]}; every id needs a key of its own`);
  // A refused one too: `current` may name it.
  keys.set(id, key ?? new Uint8Array());
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function readCurrent(reader: OptionReader, keys: ReadonlyMap<string, Uint8Array>): string {
  const given = reader.value('current');
  if (typeof given === 'string' && keys.has(given)) return given;
  const legal = keys.size === 0 ? '' : `: ${[...keys.keys()].join(', ')}`;
  refuse(reader, 'current', given, `must be the id of one of the keys${legal}`);
  return '';
}

function readBits(reader: OptionReader): PublicIdBits {
  const given = reader.value('bits') ?? 63;
  if (given === 53 || given === 63) return given;
  refuse(reader, 'bits', given, 'must be 53 or 63, as a number');
  return 63;
}

function readCodec(reader: OptionReader): IdCodec {
  const given = reader.value('codec') ?? 'base62-padded';
  if (isCodecName(given) && isOfOneWidth(given)) return codecs[given];
  const legal = Object.keys(codecs).filter(isOfOneWidth).join(', ');
  refuse(reader, 'codec', given, `must be the name of a codec of fixed width: ${legal}`);
  return codecs['base62-padded'];
}

function isOfOneWidth(name: string): boolean {
  return name === 'base64url' || name.endsWith('-padded');
}

function refuse(reader: OptionReader, option: string, given: unknown, message: string): void {
  reader.problem(option, given === undefined ? undefined : `(${kindOf(given)})`, message);
}

function kindOf(given: unknown): string {
  if (typeof given === 'string') return `text of ${given.length} characters`;
  return ArrayBuffer.isView(given) ? `${given.byteLength} bytes` : typeof given;
}

const HEX = /^(?:[0-9a-f]{32}|[0-9a-f]{48}|[0-9a-f]{64})$/i;
const BASE64URL = /^(?:[\w-]{22}|[\w-]{32}|[\w-]{43})$/;
const SIZES: readonly number[] = [16, 24, 32];

/** What a key has to be, for messages. */
const LEGAL_KEY =
  'must be 16, 24 or 32 bytes, as a Uint8Array or as text in hex or in base64url without padding; ' +
  'make one with: node -p "crypto.randomBytes(32).toString(\'hex\')"';

/**
 * The bytes of an AES key, as a copy; undefined when it is none. Texts that can be hex are hex: 32 hex digits are 16
 * bytes, though in base64url they would be 24.
 */
function readSecretKey(given: unknown): Uint8Array | undefined {
  if (given instanceof Uint8Array) return SIZES.includes(given.length) ? Uint8Array.from(given) : undefined;
  if (typeof given !== 'string') return undefined;
  if (HEX.test(given)) return Uint8Array.from(Buffer.from(given, 'hex'));
  if (!BASE64URL.test(given)) return undefined;
  const bytes = Buffer.from(given, 'base64url');
  // Bits that are left over must be zero, else two texts are one key.
  return bytes.toString('base64url') === given ? Uint8Array.from(bytes) : undefined;
}

/** Whether it is a placeholder: all zeros, or another byte over and over. */
function isPlaceholder(key: Uint8Array): boolean {
  return key.every((byte) => byte === key[0]);
}
