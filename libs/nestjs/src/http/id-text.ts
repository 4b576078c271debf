import { codecs, InvalidIdError, typedId, type CodecName, type IdCodec } from '@raindrop/core';
import { isCodecName } from '@raindrop/core/internal';

/** The form of the texts that are accepted or described as IDs. */
export interface IdTextOptions {
  /** For typed IDs: the text before the `_`. */
  prefix?: string;
  /**
   * How the ID is written: a codec, or its name in `codecs` of `@raindrop/core`. Default `decimal`; after a prefix
   * `base62-padded`, which typed columns use.
   */
  codec?: IdCodec | CodecName;
}

/** {@link IdTextOptions}, resolved. */
export interface IdText {
  readonly codec: IdCodec;
  /** The legal texts, for messages: `1 to 19 characters of 0-9, ...`. */
  readonly legal: string;
}

/** @throws ConfigurationError when the prefix or the codec is not legal */
export function idText({ prefix, codec }: IdTextOptions): IdText {
  // This checks the codec, also where there is no prefix.
  const typed = typedId(prefix ?? 'id', codec);
  if (prefix !== undefined) return { codec: typed, legal: legalTexts(typed, `${prefix}_`) };
  const plain = isCodecName(codec) ? codecs[codec] : (codec ?? codecs.decimal);
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
