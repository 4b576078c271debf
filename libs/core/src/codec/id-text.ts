import type { OptionReader } from '../config/option-reader.js';
import { option, type OptionsOf } from '../config/option-rules.js';
import type { CodecName } from './codecs.js';
import { type IdCodec, InvalidIdError } from './id-codec.js';
import { requireCodec, typedId, type TypedId } from './typed-id.js';

/** The forms in which handlers and resolvers can get an ID. */
export const ID_FORMS = ['decimal', 'bigint', 'text'] as const;

/**
 * The form in which a handler gets an ID: `decimal` digits, as entities hold them; a `bigint`; or the `text` that was
 * sent, after a check.
 */
export type ParsedIdForm = (typeof ID_FORMS)[number];

/** The type of an ID in a form. The form is `decimal` by default, with a prefix `text`. */
export type HeldId<As extends ParsedIdForm | undefined, Prefix extends string | undefined> = As extends 'bigint'
  ? bigint
  : As extends 'decimal'
    ? string
    : IdTextOf<Prefix>;

/** The type of an ID's text. */
export type IdTextOf<Prefix extends string | undefined> = Prefix extends string ? TypedId<Prefix> : string;

/** The form of the texts that are accepted or described as IDs; {@link idText} checks it. */
export const idTextOptions = {
  /** For typed IDs: the text before the `_`. @range 1-31 of a-z, 0-9 and `_` @defaultValue none */
  prefix: option<string, string | undefined>((reader, name) => reader.value(name) as string | undefined),
  /**
   * How the ID is written.
   * @range a codec, or its name in `codecs` of `@raindrop/core`
   * @defaultValue `decimal`; after a prefix `base62-padded`, which typed columns use
   */
  codec: option<IdCodec | CodecName, IdCodec | CodecName | undefined>(
    (reader, name) => reader.value(name) as IdCodec | CodecName | undefined,
  ),
};

/** The form of the texts that are accepted or described as IDs. */
export interface IdTextOptions extends OptionsOf<typeof idTextOptions> {}

/** {@link IdTextOptions}, resolved. */
export interface IdText {
  readonly codec: IdCodec;
  /** The legal texts, for messages: `1 to 19 characters of 0-9, ...`. */
  readonly legal: string;
  /** What a message says after the name of a value that is refused: `must be 1 to 19 characters of 0-9, ...`. */
  readonly rule: string;
  /** Returns the ID of a text, and undefined for every other value. */
  readonly read: (value: unknown) => bigint | undefined;
}

/** @throws ConfigurationError when the prefix or the codec is not legal */
export function idText({ prefix, codec: given }: IdTextOptions): IdText {
  const codec = prefix === undefined ? requireCodec(given === undefined ? 'decimal' : given) : typedId(prefix, given);
  const read = (value: unknown): bigint | undefined => {
    if (typeof value !== 'string') return undefined;
    try {
      return codec.decode(value);
    } catch (error) {
      if (error instanceof InvalidIdError) return undefined;
      throw error;
    }
  };
  const legal = legalTexts(codec, prefix === undefined ? '' : `${prefix}_`);
  return { codec, legal, rule: `must be ${legal}`, read };
}

/** Asks the codec for its legal texts: its error for a text without an ID names them. */
function legalTexts(codec: IdCodec, start: string): string {
  try {
    codec.decode(start);
  } catch (error) {
    if (error instanceof InvalidIdError) return error.legal;
  }
  return `an ID in ${codec.name}`;
}

/**
 * Notes a codec that is given as undefined. A circular import gives undefined in place of a codec: plain decimals would be
 * read, which the codec was to hide.
 */
export function refuseLostCodec(reader: OptionReader, options: object | undefined): void {
  if (options === undefined || !Object.hasOwn(options, 'codec') || reader.value('codec') !== undefined) return;
  reader.problem('codec', undefined, 'must be a codec or its name; is its module part of an import cycle?');
}

/** The example ID; below 2^53, because every codec can write such an ID. */
const EXAMPLE = 4_094_321_512_251_394n;

/** The JSON Schema of an ID's text, and an example, for which JSON Schema and OpenAPI 3.0 have different keywords. */
export interface IdTextSchema {
  readonly description: string;
  readonly type: 'string';
  /** For decimal texts only: an integer that JavaScript would round as a number. */
  readonly format?: 'int64';
  readonly pattern?: string;
  readonly maxLength: number;
}

/** @throws ConfigurationError when the prefix or the codec is not legal */
export function describeIdText(options: IdTextOptions): { readonly schema: IdTextSchema; readonly example: string } {
  const { codec } = idText(options);
  const { format, pattern } = formOf(options);
  const { prefix } = options;
  const description =
    prefix === undefined ? 'A 63-bit ID, as text: a number would be rounded.' : `An ID that begins with ${prefix}_.`;
  const schema: IdTextSchema = {
    description,
    type: 'string',
    ...(format && { format }),
    ...(pattern && { pattern }),
    maxLength: codec.width,
  };
  return { schema, example: codec.encode(EXAMPLE) };
}

function formOf({ prefix, codec }: IdTextOptions): { format?: 'int64'; pattern?: string } {
  if (prefix !== undefined) {
    const isUsual = codec === undefined || codec === 'base62-padded';
    return { pattern: `^${prefix}_${isUsual ? '[0-9A-Za-z]{11}' : '.+'}$` };
  }
  if (codec !== undefined && codec !== 'decimal') return {};
  return { format: 'int64', pattern: '^(0|[1-9][0-9]{0,18})$' };
}
