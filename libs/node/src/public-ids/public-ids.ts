import { FF1 } from '@noble/ciphers/ff1.js';
import { type CodecName, codecs, ConfigurationError, type IdCodec, InvalidIdError } from '@raindrop/core';
import { isCodecName, option, type OptionReader, type OptionsOf, resolveOptions } from '@raindrop/core/internal';

/**
 * A codec whose texts tell nothing about the ID to a reader without the key: not when it was issued, not how many there
 * are, not which one came next.
 *
 * An ID has one text for each key. `encode` writes with the current key; `decode` reads the texts of all keys.
 */
export interface PublicIdCodec extends IdCodec {
  readonly bits: PublicIdBits;

  /** @throws InvalidIdError when `id` is not a bigint of {@link bits} bits; the message does not show it */
  readonly encode: (id: bigint) => string;

  /**
   * Conceals the ID as a number of as many bits, for a column or a JavaScript number. The number does not tell the key.
   * @param key the id of the key, by default the current one
   * @throws InvalidIdError when `id` is not a bigint of {@link bits} bits; the message does not show it
   * @throws ConfigurationError when there is no such key
   */
  readonly conceal: (id: bigint, key?: string) => bigint;

  /**
   * Returns the ID that `conceal` was given. The key must be the one that concealed it: another one gives another ID.
   * @param key the id of the key, by default the current one
   * @throws InvalidIdError when `concealed` is not a bigint of {@link bits} bits
   * @throws ConfigurationError when there is no such key
   */
  readonly reveal: (concealed: bigint, key?: string) => bigint;
}

/** The bits of a public ID: 53 fit a safe JavaScript number, 63 are those of an ID. */
export type PublicIdBits = 53 | 63;

// Interfaces, because the compiler writes `Uint8Array` itself as a generic type, which TypeScript before 5.7 does not know.
interface GivenKeys extends Readonly<Record<string, string | Uint8Array>> {}
interface SecretKeys extends ReadonlyMap<string, Uint8Array> {}

/** The keys, and the form of the texts. No message shows a value: in the wrong place it may be a key. */
export const publicIdOptions = {
  /**
   * The secret keys, by ids of 1 to 8 letters and digits, with which the texts begin.
   * @range AES keys of 16, 24 or 32 random bytes, as `Uint8Array` (copied) or as text in hex or base64url
   */
  keys: option<GivenKeys, SecretKeys>(readKeys, {
    isRequired: true,
  }),
  /** The id of the key that conceals from now on; the other keys only reveal. @range one of `keys` */
  current: option<string, string, Keys>(readCurrent, { isRequired: true }),
  /** The bits of the IDs: 53 where all of them are safe JavaScript numbers. @range 53, 63 @defaultValue 63 */
  bits: option<PublicIdBits, PublicIdBits>(readBits),
  /**
   * The kind of object that the IDs identify, such as `order`: another purpose gives unrelated texts for the same ID.
   * It need not be secret. When it is changed, old texts decode to other IDs.
   * @range 1-64 letters, digits and any of `. : _ -` @defaultValue none
   */
  purpose: option<string, string>(readPurpose),
  /** How the concealed number is written. @range a codec of fixed width @defaultValue `base62-padded` */
  codec: option<PublicIdText, IdCodec>(readCodec),
};

/** The options of {@link publicIds}: the keys, and the form of the texts. */
export interface PublicIdOptions extends OptionsOf<typeof publicIdOptions> {}

/** The codecs whose texts all have one width, so that the key's id before the text ends at a known place. */
export type PublicIdText = Extract<CodecName, `${string}-padded` | 'base64url'>;

/**
 * The smallest radix of which four digits hold so many bits. FF1 costs by the digit: 63 bits take 73 µs as 63 digits of
 * 2, 35 as 7 of 512, 30 as these 4. 53 is prime, so that only digits of 2 fit exactly (69 µs, against 32).
 */
const RADIX: Readonly<Record<PublicIdBits, number>> = { 53: 9_742, 63: 55_109 };

/**
 * Makes public IDs that cannot be guessed without the key: the key's id, then the ID permuted with FF1 of NIST SP
 * 800-38G.
 *
 *     const orderIds = publicIds({ keys: { k1: process.env.ORDER_KEY! }, current: 'k1', purpose: 'order' });
 *     orderIds.encode(30077675337940996n); // k1 and 11 characters
 *
 * Encoding and decoding take some 30 µs each. A text that was tampered with decodes to another ID or is refused. A
 * public ID hides the ID; it is no proof that its sender may see the object.
 *
 * @throws ConfigurationError when an option is not legal; the message shows no key
 */
export function publicIds(options: PublicIdOptions): PublicIdCodec {
  const { keys, current, bits, purpose, codec } = resolveOptions(publicIdOptions, options);
  const tweak = new TextEncoder().encode(purpose);
  const permutations = new Map([...keys].map(([id, key]) => [id, bitPermutation(bits, key, tweak)]));
  const text = concealedText(codec, bits);

  const name = 'public-id';
  const ids = [...keys.keys()];
  const width = Math.max(...ids.map((id) => id.length)) + text.width;
  const legal = `the id of a key (${ids.join(', ')}) followed by ${text.width} characters, ${bits} bits in ${codec.name}`;

  const permutationOf = (key: string): BitPermutation => {
    const found = permutations.get(key);
    if (found !== undefined) return found;
    // The message does not show it: it may be the key itself.
    const given = `(${typeof key})`;
    throw new ConfigurationError([{ option: 'key', given, message: `must be the id of a key: ${ids.join(', ')}` }]);
  };
  const conceal = (id: bigint, key: string = current): bigint =>
    permutationOf(key).conceal(requireBits(name, id, bits));
  const reveal = (concealed: bigint, key: string = current): bigint =>
    permutationOf(key).reveal(requireBits(name, concealed, bits));

  const encode = (id: bigint): string => current + text.write(conceal(id));
  const read = (given: string): bigint | undefined => {
    if (typeof given !== 'string' || given.length > width) return undefined;
    const permutation = permutations.get(given.slice(0, -text.width));
    const concealed = permutation && text.read(given.slice(-text.width));
    return concealed === undefined ? undefined : permutation?.reveal(concealed);
  };
  const decode = (given: string): bigint => {
    const id = read(given);
    if (id === undefined) throw new InvalidIdError(name, given, legal);
    return id;
  };
  return Object.freeze({ name, width, sortable: false, bits, encode, decode, conceal, reveal });
}

/** Checks the size. The message may reach a client: it says what is wrong with the ID, but does not show it. */
function requireBits(name: string, id: bigint, bits: PublicIdBits): bigint {
  const max = 2n ** BigInt(bits) - 1n;
  if (typeof id === 'bigint' && id >= 0n && id <= max) return id;
  const kind = typeof id === 'bigint' ? 'a bigint of another size' : `of type ${typeof id}`;
  throw new InvalidIdError(name, kind, `to conceal or reveal, a bigint of ${bits} bits: 0 to ${max}`);
}

/** A keyed one-to-one mapping of the numbers of so many bits onto themselves. */
interface BitPermutation {
  readonly conceal: (id: bigint) => bigint;
  readonly reveal: (concealed: bigint) => bigint;
}

/**
 * FF1 of NIST SP 800-38G over four digits, which hold a few millionths more numbers than `bits` bits. A result that
 * does not fit in the bits is permuted again until it fits. The results walk along a cycle of the permutation, which
 * leads back to the number that began it, so the walk ends, and the whole is a permutation of exactly the numbers of
 * `bits` bits. One number in 160,000 (53 bits) or 33,000 (63 bits) needs a second step.
 *
 * @param key 16, 24 or 32 bytes; they must not be changed afterwards
 */
export function bitPermutation(bits: PublicIdBits, key: Uint8Array, tweak: Uint8Array): BitPermutation {
  const radix = RADIX[bits];
  const square = BigInt(radix) ** 2n;
  const limit = 2n ** BigInt(bits);
  const cipher = FF1(radix, key, tweak);

  const toDigits = (value: bigint): number[] => {
    const high = Number(value / square);
    const low = Number(value % square);
    return [Math.floor(high / radix), high % radix, Math.floor(low / radix), low % radix];
  };
  const toNumber = ([a, b, c, d]: readonly number[]): bigint =>
    BigInt(a! * radix + b!) * square + BigInt(c! * radix + d!);
  const walk =
    (step: (digits: number[]) => number[]) =>
    (value: bigint): bigint => {
      let digits = toDigits(value);
      for (;;) {
        digits = step(digits);
        const result = toNumber(digits);
        if (result < limit) return result;
      }
    };
  return { conceal: walk((digits) => cipher.encrypt(digits)), reveal: walk((digits) => cipher.decrypt(digits)) };
}

/** Writes concealed numbers as texts of one width, and reads them. */
interface ConcealedText {
  readonly width: number;
  readonly write: (concealed: bigint) => string;
  /** Undefined when `write` gives this text for no number. */
  readonly read: (text: string) => bigint | undefined;
}

/**
 * Leaves out the digits with which all numbers of `bits` bits begin: they are zeros.
 * @param codec positional and of fixed width
 */
function concealedText(codec: IdCodec, bits: PublicIdBits): ConcealedText {
  const end = 2n ** BigInt(bits);
  const lead = commonStart(codec.encode(0n), codec.encode(end - 1n));
  return {
    width: codec.width - lead.length,
    write: (concealed) => codec.encode(concealed).slice(lead.length),
    read: (text) => {
      try {
        const concealed = codec.decode(lead + text);
        return concealed < end ? concealed : undefined;
      } catch (error) {
        if (error instanceof InvalidIdError) return undefined;
        throw error;
      }
    },
  };
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

const KEY_ID = /^[A-Za-z0-9]{1,8}$/;
const PURPOSE = /^[\w.:-]{1,64}$/;

interface Keys {
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

const HEX = /^(?:[0-9a-f]{32}|[0-9a-f]{48}|[0-9a-f]{64})$/i;
const BASE64URL = /^(?:[\w-]{22}|[\w-]{32}|[\w-]{43})$/;
const SIZES: readonly number[] = [16, 24, 32];

/** The legal keys, for messages. */
const LEGAL_KEY =
  'must be 16, 24 or 32 bytes, as a Uint8Array or as text in hex or in base64url without padding; ' +
  'make one with: node -p "crypto.randomBytes(32).toString(\'hex\')"';

function readKeys(reader: OptionReader, name: string): ReadonlyMap<string, Uint8Array> {
  const given = reader.value(name);
  const keys = new Map<string, Uint8Array>();
  if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given)) {
    refuse(reader, name, given, 'must be an object of keys by their ids: { k1: key }');
    return keys;
  }
  const entries = Object.entries(given);
  if (entries.length === 0) refuse(reader, name, given, 'must hold a key: { k1: key }');
  for (const [index, [id, key]] of entries.entries()) {
    if (KEY_ID.test(id)) readKey(reader, keys, id, key);
    // The message does not show the id: it may be the key itself.
    else refuse(reader, name, given, `the id of key ${index + 1} must be 1 to 8 letters or digits (A-Za-z0-9)`);
  }
  return keys;
}

function readKey(reader: OptionReader, keys: Map<string, Uint8Array>, id: string, given: unknown): void {
  const key = readSecretKey(given);
  const twin = key && [...keys].find(([, other]) => equal(other, key));
  if (key === undefined) refuse(reader, `keys.${id}`, given, LEGAL_KEY);
  else if (isPlaceholder(key)) refuse(reader, `keys.${id}`, given, 'is one repeated byte; it must be random');
  else if (twin) refuse(reader, `keys.${id}`, given, `is the same key as keys.${twin[0]}; every id needs its own key`);
  // A refused key is kept as well, so that `current` may name it without a second problem.
  keys.set(id, key ?? new Uint8Array());
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function readCurrent(reader: OptionReader, name: string, { keys }: Keys): string {
  const given = reader.value(name);
  if (typeof given === 'string' && keys.has(given)) return given;
  const legal = keys.size === 0 ? '' : `: ${[...keys.keys()].join(', ')}`;
  refuse(reader, name, given, `must be the id of one of the keys${legal}`);
  return '';
}

function readBits(reader: OptionReader, name: string): PublicIdBits {
  const given = reader.value(name) ?? 63;
  if (given === 53 || given === 63) return given;
  refuse(reader, name, given, 'must be 53 or 63, as a number');
  return 63;
}

function readPurpose(reader: OptionReader, name: string): string {
  const given = reader.value(name) ?? '';
  if (typeof given === 'string' && (given === '' || PURPOSE.test(given))) return given;
  refuse(reader, name, given, 'must be 1 to 64 letters, digits or any of . : _ -');
  return '';
}

function readCodec(reader: OptionReader, name: string): IdCodec {
  const given = reader.value(name) ?? 'base62-padded';
  if (isCodecName(given) && isOfOneWidth(given)) return codecs[given];
  const legal = Object.keys(codecs).filter(isOfOneWidth).join(', ');
  refuse(reader, name, given, `must be the name of a codec of fixed width: ${legal}`);
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

/**
 * Copies the bytes of an AES key; undefined when the given value is none. A text that can be hex is read as hex: 32 hex
 * digits are 16 bytes, though in base64url they would be 24.
 */
function readSecretKey(given: unknown): Uint8Array | undefined {
  if (given instanceof Uint8Array) return SIZES.includes(given.length) ? Uint8Array.from(given) : undefined;
  if (typeof given !== 'string') return undefined;
  if (HEX.test(given)) return Uint8Array.from(Buffer.from(given, 'hex'));
  if (!BASE64URL.test(given)) return undefined;
  const bytes = Buffer.from(given, 'base64url');
  // The last character has bits left over. They must be zero: else two texts would be one key.
  return bytes.toString('base64url') === given ? Uint8Array.from(bytes) : undefined;
}

/** Whether the key is a placeholder: all zeros, or any other byte over and over. */
function isPlaceholder(key: Uint8Array): boolean {
  return key.every((byte) => byte === key[0]);
}
