import { InvalidIdError, typedId, type CodecName, type IdCodec } from '@raindrop/core';
import { oneOf, option, type OptionsOf, requireCodec, text } from '@raindrop/core/internal';

/** The forms in which handlers and resolvers can get an ID. */
export const ID_FORMS = ['decimal', 'bigint', 'text'] as const;

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

/** The name of a scalar, and the form of its IDs. */
export const snowflakeScalarOptions = {
  ...idTextOptions,
  /** The scalar's name in the schema. @range a name of GraphQL @defaultValue `Snowflake` */
  name: text({
    pattern: /^(?!__)[A-Za-z_]\w*$/,
    legal: 'a GraphQL name: letters, digits and _, not starting with a digit or __',
    default: 'Snowflake',
  }),
  /** The description in the schema. @range a string @defaultValue which texts are accepted */
  description: text({ pattern: /^[^]*$/, legal: 'a string' }),
  /**
   * The form in which resolvers get an ID: `decimal` digits, as entities hold them; a `bigint`; or the `text` that the
   * client sent, after a check.
   * @range `decimal`, `bigint`, `text` @defaultValue `decimal`; with a prefix `text`, as typed columns hold it
   */
  as: oneOf(ID_FORMS, { default: ({ prefix }: IdTextOptions) => (prefix === undefined ? 'decimal' : 'text') }),
};

/** The type of a property that holds an ID, and the form of its texts. */
export const isSnowflakeOptions = {
  ...idTextOptions,
  /** The type of the property. With `bigint` leave prefix and codec out. @range `text`, `bigint` @defaultValue `text` */
  as: oneOf(['text', 'bigint'], { default: 'text' }),
};

/** {@link IdTextOptions}, resolved. */
export interface IdText {
  readonly codec: IdCodec;
  /** The legal texts, for messages: `1 to 19 characters of 0-9, ...`. */
  readonly legal: string;
}

/** @throws ConfigurationError when the prefix or the codec is not legal */
export function idText({ prefix, codec }: IdTextOptions): IdText {
  if (prefix !== undefined) {
    const typed = typedId(prefix, codec);
    return { codec: typed, legal: legalTexts(typed, `${prefix}_`) };
  }
  const plain = requireCodec(codec === undefined ? 'decimal' : codec);
  return { codec: plain, legal: legalTexts(plain, '') };
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
