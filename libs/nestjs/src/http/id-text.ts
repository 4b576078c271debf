import { codecs, InvalidIdError, typedId, type CodecName, type IdCodec } from '@raindrop/core';
import { isCodecName, oneOf, option, type OptionsOf, text } from '@raindrop/core/internal';

/** What a handler or a resolver can get: decimal digits, a bigint, or the text as it came. */
export const ID_FORMS = ['decimal', 'bigint', 'text'] as const;

/** The options say which texts are IDs, where they come in and where they are described. {@link idText} checks them. */
export const idTextOptions = {
  /** For typed IDs: what stands before the `_`. @range 1-31 of a-z, 0-9 and `_` @defaultValue none */
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

/** The options say which texts are IDs, where they come in and where they are described. */
export interface IdTextOptions extends OptionsOf<typeof idTextOptions> {}

/** What a scalar of GraphQL is called, and which texts are its IDs. */
export const snowflakeScalarOptions = {
  ...idTextOptions,
  /** The scalar's name in the schema. @range a name of GraphQL @defaultValue `Snowflake` */
  name: text({
    pattern: /^(?!__)[A-Za-z_]\w*$/,
    legal: 'a name of GraphQL: letters, digits and _, without a digit or __ at its beginning',
    default: 'Snowflake',
  }),
  /** What the schema says of it. @range a text @defaultValue what is accepted */
  description: text({ pattern: /^[^]*$/, legal: 'a text' }),
  /**
   * What resolvers get: decimal digits, as entities hold them; a bigint; or the text as it came, checked.
   * @range `decimal`, `bigint`, `text`
   * @defaultValue `decimal`; with a prefix `text`, as typed columns hold it
   */
  as: oneOf(ID_FORMS, { default: ({ prefix }: IdTextOptions) => (prefix === undefined ? 'decimal' : 'text') }),
};

/** What is told apart of IDs in DTOs. */
export const isSnowflakeOptions = {
  ...idTextOptions,
  /** What the property holds. `bigint` goes without prefix and codec. @range `text`, `bigint` @defaultValue `text` */
  as: oneOf(['text', 'bigint'], { default: 'text' }),
};

/** {@link IdTextOptions}, resolved. */
export interface IdText {
  readonly codec: IdCodec;
  /** What is accepted, for messages: `1 to 19 characters of 0-9, ...`. */
  readonly legal: string;
}

/** @throws ConfigurationError when the prefix or the codec is not legal */
export function idText({ prefix, codec }: IdTextOptions): IdText {
  // Checks the codec as well, without a prefix too.
  const typed = typedId(prefix ?? 'id', codec);
  if (prefix !== undefined) return { codec: typed, legal: legalTexts(typed, `${prefix}_`) };
  const plain = isCodecName(codec) ? codecs[codec] : (codec ?? codecs.decimal);
  return { codec: plain, legal: legalTexts(plain, '') };
}

/** What a codec says when the ID itself is missing. */
function legalTexts(codec: IdCodec, start: string): string {
  try {
    codec.decode(start);
  } catch (error) {
    if (error instanceof InvalidIdError) return error.legal;
  }
  return `an ID in ${codec.name}`;
}
