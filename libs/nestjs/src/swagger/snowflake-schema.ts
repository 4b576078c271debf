import { idText, type IdTextOptions } from '../http/id-text.js';

/** What OpenAPI says about the text of an ID. */
export interface SnowflakeSchema {
  readonly type: 'string';
  /** Of decimal texts only: where an `int64` is meant that JavaScript would round as a number. */
  readonly format?: 'int64';
  readonly pattern?: string;
  readonly maxLength: number;
  readonly example: string;
}

/** Below 2^53, so that every codec has it. */
const EXAMPLE = 4_094_321_512_251_394n;

/** @throws ConfigurationError when the prefix or the codec is not legal */
export function snowflakeSchema(options: IdTextOptions): SnowflakeSchema {
  const { codec } = idText(options);
  const { format, pattern } = formOf(options);
  return {
    type: 'string',
    ...(format && { format }),
    ...(pattern && { pattern }),
    maxLength: codec.width,
    example: codec.encode(EXAMPLE),
  };
}

export function snowflakeDescription({ prefix }: IdTextOptions): string {
  return prefix === undefined
    ? 'A 63-bit ID, as text: a number would be rounded.'
    : `An ID that begins with ${prefix}_.`;
}

function formOf({ prefix, codec }: IdTextOptions): { format?: 'int64'; pattern?: string } {
  if (prefix !== undefined) {
    const isUsual = codec === undefined || codec === 'base62-padded';
    return { pattern: `^${prefix}_${isUsual ? '[0-9A-Za-z]{11}' : '.+'}$` };
  }
  if (codec !== undefined && codec !== 'decimal') return {};
  return { format: 'int64', pattern: '^(0|[1-9][0-9]{0,18})$' };
}
