import { ConfigurationError } from '../config/option-reader.js';
import { codecs, isCodecName, type CodecName } from './codecs.js';
import { defineCodec, type IdCodec, InvalidIdError } from './id-codec.js';
import { showValue } from '../show-value.js';

const PREFIX = /^[a-z](?:[a-z0-9_]{0,29}[a-z0-9])?$/;

/** IDs of at most 53 bits, which every codec writes; among their texts is nearly every character that one may write. */
const SAMPLES = Array.from({ length: 32 }, (_, index) =>
  BigInt.asUintN(53, index === 0 ? -1n : BigInt(index) * 0x9e3779b97f4a7c15n),
);

/** An ID as text, after a prefix that says what it identifies: `order_2bXq...`. */
export type TypedId<Prefix extends string = string> = `${Prefix}_${string}`;

/** A codec for the IDs of one kind of thing. */
export interface TypedIdCodec<Prefix extends string = string> extends IdCodec {
  readonly prefix: Prefix;

  /** @throws InvalidIdError when `id` is not a bigint from 0 to 2^63 - 1 */
  readonly encode: (id: bigint) => TypedId<Prefix>;
}

/**
 * Makes a codec that writes `prefix_` before the ID and refuses every text with another prefix: the ID of a user never
 * passes for the ID of an order. After TypeID (https://github.com/jetify-com/typeid).
 *
 * The default, `base62-padded`, has a fixed width: the texts of one prefix sort like the IDs. Where upper and lower case
 * may get lost (file names, columns with a collation that ignores case, people) take `base32-padded` or `base36-padded`.
 *
 * @param prefix 1 to 31 lower-case letters, digits and `_`; the first is a letter, the last is not `_`
 * @param codec what stands after the prefix: a codec or its name in `codecs`. Its texts must have no `_`, as those of
 * `base64url` have: `a_b_...` could be an ID of the prefix `a` or of `a_b`
 * @throws ConfigurationError when the prefix or the codec is not legal
 */
export function typedId<const Prefix extends string>(
  prefix: Prefix,
  codec: IdCodec | CodecName = 'base62-padded',
): TypedIdCodec<Prefix> {
  const payload = requireCodec(codec);
  refuseUnderscores(payload, codec);
  const start: TypedId<Prefix> = `${requirePrefix(prefix)}_`;
  const name = `typed ${prefix}`;
  const parse = (text: string): bigint | undefined => {
    if (!text.startsWith(start)) return undefined;
    try {
      return payload.decode(text.slice(start.length));
    } catch (error) {
      // The message shows the whole text, prefix included.
      if (error instanceof InvalidIdError) throw new InvalidIdError(name, text, `${start} followed by ${error.legal}`);
      throw error;
    }
  };
  const typed = defineCodec({
    name,
    width: start.length + payload.width,
    sortable: payload.sortable,
    legal: `${start} followed by the ID in ${payload.name}`,
    format: (id) => start + payload.encode(id),
    parse,
  });
  return Object.freeze({ ...typed, prefix }) as TypedIdCodec<Prefix>;
}

function requirePrefix<Prefix extends string>(prefix: Prefix): Prefix {
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return prefix;
  const message =
    'must be 1 to 31 characters a-z, 0-9 or _, starting with a letter and not ending with _ (it is added)';
  throw new ConfigurationError([{ option: 'prefix', given: showValue(prefix), message }]);
}

/**
 * Returns the codec, or the one of this name.
 * @throws ConfigurationError when it is none
 */
export function requireCodec(codec: IdCodec | CodecName): IdCodec {
  if (isCodecName(codec)) return codecs[codec];
  if (typeof codec === 'object' && typeof codec?.encode === 'function' && typeof codec.decode === 'function')
    return codec;
  const message = `must be a codec or the name of one: ${Object.keys(codecs).join(', ')}`;
  throw new ConfigurationError([{ option: 'codec', given: showValue(codec), message }]);
}

/** A prefix ends at the last `_` of a text only if the codec writes none. */
function refuseUnderscores(payload: IdCodec, given: IdCodec | CodecName): void {
  if (!SAMPLES.some((id) => writtenBy(payload, id).includes('_'))) return;
  const message =
    `writes _ in IDs, so that a text does not tell where its prefix ends: ` +
    `use another codec, such as base62-padded`;
  throw new ConfigurationError([
    { option: 'codec', given: showValue(isCodecName(given) ? given : payload.name), message },
  ]);
}

/** A codec from outside may refuse IDs; then it wrote no `_` in them either. */
function writtenBy(codec: IdCodec, id: bigint): string {
  try {
    return codec.encode(id);
  } catch (error) {
    if (error instanceof InvalidIdError) return '';
    throw error;
  }
}
