import { ConfigurationError, InvalidIdError, type IdCodec } from '@raindrop/core';
import { bitPermutation, type BitPermutation, type PublicIdBits } from './bit-permutation.js';
import { concealedText } from './concealed-text.js';
import { resolvePublicIdOptions, type PublicIdOptions } from './public-id-options.js';

/**
 * A codec whose texts tell nothing about the ID without the key: not when it was made, not how many there are, not
 * which came next.
 *
 * An ID has one text for every key. `encode` writes with the current key; `decode` takes the texts of all of them.
 */
export interface PublicIdCodec extends IdCodec {
  readonly bits: PublicIdBits;

  /** @throws InvalidIdError when `id` is not a bigint of so many bits; the message does not show it */
  readonly encode: (id: bigint) => string;

  /**
   * The concealed ID as a number of as many bits, for a column or a JavaScript number. It does not say which key it is
   * of.
   * @param key the id of the key, by default the current one
   * @throws InvalidIdError when `id` is not a bigint of so many bits; the message does not show it
   * @throws ConfigurationError when there is no such key
   */
  readonly conceal: (id: bigint, key?: string) => bigint;

  /**
   * The ID that `conceal` was given.
   * @param key the id of the key, by default the current one
   * @throws InvalidIdError when `concealed` is not a bigint of so many bits
   * @throws ConfigurationError when there is no such key
   */
  readonly reveal: (concealed: bigint, key?: string) => bigint;
}

/**
 * Makes public IDs that nobody can guess: the key's id and then the ID, permuted with FF1 of NIST SP 800-38G.
 *
 *     const orderIds = publicIds({ keys: { k1: process.env.ORDER_KEY! }, current: 'k1', purpose: 'order' });
 *     orderIds.encode(30077675337940996n); // k1 and 11 characters
 *
 * Encoding and decoding take some 30 µs each. A text that was tampered with is another ID or none: this hides, it
 * authorises nobody.
 *
 * @throws ConfigurationError when an option is not legal; the message shows no key
 */
export function publicIds(options: PublicIdOptions): PublicIdCodec {
  const { keys, current, bits, tweak, codec } = resolvePublicIdOptions(options);
  const permutations = new Map([...keys].map(([id, key]) => [id, bitPermutation(bits, key, tweak)]));
  const text = concealedText(codec, bits);

  const name = 'public-id';
  const ids = [...keys.keys()];
  const width = Math.max(...ids.map((id) => id.length)) + text.width;
  const legal = `the id of a key (${ids.join(', ')}) and then ${text.width} characters, ${bits} bits in ${codec.name}`;

  const permutationOf = (key: string): BitPermutation => {
    const found = permutations.get(key);
    if (found !== undefined) return found;
    // It may be the key itself.
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

/** The message may reach a client: it says what is wrong with the ID, but not which it is. */
function requireBits(name: string, id: bigint, bits: PublicIdBits): bigint {
  const max = 2n ** BigInt(bits) - 1n;
  if (typeof id === 'bigint' && id >= 0n && id <= max) return id;
  const kind = typeof id === 'bigint' ? 'a bigint of another size' : `of type ${typeof id}`;
  throw new InvalidIdError(name, kind, `to be concealed or revealed, a bigint of ${bits} bits: 0 to ${max}`);
}
