import { InvalidIdError, type IdCodec } from '@raindrop/core';
import { MAX_ID, OptionReader } from '@raindrop/core/internal';
import { buildMessage, ValidateBy, type ValidationOptions } from 'class-validator';
import { idText, type IdTextOptions } from '../http/id-text.js';
import { keepAsSent } from './keep-as-sent.js';

export interface IsSnowflakeOptions extends IdTextOptions {
  /** What the property holds. `bigint` goes without prefix and codec. Default `text`. */
  as?: 'text' | 'bigint';
}

/**
 * Checks that a property is an ID from 0 to 2^63 - 1: decimal text, the text of another codec, a typed ID, or a bigint.
 *
 *     @IsSnowflake() readonly customer!: string;
 *     @IsSnowflake({ prefix: 'order' }, { each: true }) readonly orders!: string[];
 *
 * Only the canonical text is accepted. A JSON number is refused: above 2^53 it has already lost digits. So class-transformer
 * leaves the property as it was sent, with `enableImplicitConversion` and with `@Type(() => String)` too. The key in
 * `constraints` is `isSnowflake`; in a message of your own `$constraint1` says what is legal.
 *
 * @throws ConfigurationError when an option is not legal
 */
export function IsSnowflake(
  options: IsSnowflakeOptions = {},
  validationOptions?: ValidationOptions,
): PropertyDecorator {
  const isBigInt = holdsBigInt(options);
  const { codec, legal } = idText(options);
  const rule = isBigInt ? `a bigint from 0 to ${MAX_ID}` : legal;
  const validate = (value: unknown): boolean => (isBigInt ? isId(value) : isTextOf(codec, value));
  const defaultMessage = buildMessage((each) => `${each}$property must be ${rule}`, validationOptions);
  const check = ValidateBy(
    { name: 'isSnowflake', constraints: [rule], validator: { validate, defaultMessage } },
    validationOptions,
  );
  return (target, property) => {
    check(target, property);
    // No conversion makes a bigint: a number stays one, and is refused.
    if (!isBigInt) keepAsSent(target, property);
  };
}

function holdsBigInt(options: IsSnowflakeOptions): boolean {
  const reader = new OptionReader(options);
  const isBigInt = reader.oneOf('as', ['text', 'bigint'], 'text') === 'bigint';
  for (const name of ['prefix', 'codec']) {
    const given = reader.value(name);
    if (isBigInt && given !== undefined) reader.problem(name, given, `is for texts; leave it out with as: 'bigint'`);
  }
  reader.finish();
  return isBigInt;
}

function isId(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_ID;
}

function isTextOf(codec: IdCodec, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    codec.decode(value);
    return true;
  } catch (error) {
    if (error instanceof InvalidIdError) return false;
    throw error;
  }
}
