import { PermanentError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';

/** The largest ID: 2^63 - 1, the largest signed 64-bit integer. IDs are the bigints 0 to `MAX_ID`. */
export const MAX_ID = 9_223_372_036_854_775_807n;

/** The largest ID of a layout that a `bigint` column holds; without a layout, and of 64 bits, {@link MAX_ID}. */
export function largestIdOf(layout: { readonly bits: number } | undefined): bigint {
  return layout === undefined || layout.bits >= 63 ? MAX_ID : 2n ** BigInt(layout.bits) - 1n;
}

/**
 * One way to write an ID as text, and to read it back.
 *
 * Every codec is strict and canonical: an ID has exactly one text, and `decode` accepts a text only when `encode` writes
 * the same one. The functions need no `this`: `ids.map(base62.encode)` works.
 */
export interface IdCodec {
  /** The name in messages; for the codecs of `codecs` also their key there. */
  readonly name: string;

  /** Characters of the longest text. Every text of a padded form has this length. */
  readonly width: number;

  /**
   * Whether texts compare like the IDs (`<` in JavaScript, a binary collation in a database). A collation that ignores
   * case or follows a language does not keep that order.
   */
  readonly sortable: boolean;

  /** @throws InvalidIdError when `id` is not a bigint from 0 to 2^63 - 1 */
  readonly encode: (id: bigint) => string;

  /**
   * The length is checked before anything is computed: a text of a million characters is refused at once.
   * @throws InvalidIdError when `text` is not exactly what `encode` writes for some ID
   */
  readonly decode: (text: string) => bigint;
}

/** The definition of one codec. The checks that all codecs share are in {@link defineCodec}. */
export interface CodecForm {
  readonly name: string;
  readonly width: number;
  readonly sortable: boolean;
  /** The texts that `decode` accepts, for the message of its error. */
  readonly legal: string;
  /** Called with IDs from 0 to 2^63 - 1 only. */
  readonly format: (id: bigint) => string;
  /** Called with 1 to `width` arbitrary characters. Undefined when they are not canonical; may exceed 2^63 - 1. */
  readonly parse: (text: string) => bigint | undefined;
}

export function defineCodec({ name, width, sortable, legal, format, parse }: CodecForm): IdCodec {
  return Object.freeze({
    name,
    width,
    sortable,
    encode: (id: bigint) => format(requireId(name, id)),
    decode: (text: string) => {
      const id = typeof text === 'string' && text.length > 0 && text.length <= width ? parse(text) : undefined;
      if (id === undefined || id > MAX_ID) throw new InvalidIdError(name, text, legal);
      return id;
    },
  });
}

function requireId(codec: string, id: bigint): bigint {
  if (typeof id === 'bigint' && id >= 0n && id <= MAX_ID) return id;
  throw new InvalidIdError(codec, id, `to encode, a bigint from 0 to ${MAX_ID}; toId() converts strings and numbers`);
}

/**
 * The value is not an ID, or not one in the form that was asked for.
 *
 * The message is safe to log: the value is cut to 48 characters and everything but printable ASCII is escaped.
 */
export class InvalidIdError extends PermanentError {
  static override readonly name = 'InvalidIdError';
  readonly errorCode = 'INVALID_ID';

  /** The given value, shortened and escaped; strings are in double quotes. */
  readonly given: string;

  constructor(
    /** The codec that refused the value; `id` when the value was not a text. */
    readonly codec: string,
    value: unknown,
    /** The values that are accepted. */
    readonly legal: string,
    /** `Entity.property`, of a value for an entity. */
    readonly column?: string,
  ) {
    const given = showValue(value);
    const where = column === undefined ? '' : `${column}: `;
    const cure = column === undefined ? '' : ' Validate IDs where they arrive: in a route, with ParseIdPipe.';
    super(`${where}Not a valid ID (${codec}): ${given}. Legal: ${legal}.${cure}`);
    this.given = given;
  }
}
