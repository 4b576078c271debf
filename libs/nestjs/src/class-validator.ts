/**
 * IDs in DTOs; needs class-validator.
 *
 * @module @raindrop/nestjs/class-validator
 */

import { requireSupported } from '@raindrop/node/internal';
import { buildMessage, ValidateBy, type ValidationOptions } from 'class-validator';
import { idText, MAX_ID, OptionReader, type OptionsOf, readOptions } from '@raindrop/core/internal';
import { isSnowflakeOptions } from './http/id-text-options.js';
import { refuseStandardDecorator } from './http/legacy-decorators.js';
import { loadClassTransformer } from './http/load-class-transformer.js';

requireSupported('class-validator', () => __filename);

/** The options of {@link IsSnowflake}. */
export interface IsSnowflakeOptions extends OptionsOf<typeof isSnowflakeOptions> {}

/**
 * Checks that a property is an ID from 0 to 2^63 - 1: decimal text, the text of another codec, a typed ID, or a bigint.
 *
 *     @IsSnowflake() readonly customer!: string;
 *     @IsArray() @IsSnowflake({ prefix: 'order' }, { each: true }) readonly orders!: string[];
 *
 * With `each`, class-validator takes a single text too; `@IsArray()` requires the list.
 *
 * Only the one text that the codec writes is accepted. A JSON number is refused: above 2^53 it has already lost digits.
 * For that, class-transformer is kept from converting the property, also with `enableImplicitConversion`. Leave
 * `@Type()` out: class-transformer itself throws a TypeError, a 500, with `@Type(() => String)` above for a value such
 * as `{"toString":1}`, with `@Type(() => BigInt)` for every object. A number is refused with `@Type(() => String)` too.
 *
 * The key in `constraints` is `isSnowflake`; in a message of your own `$constraint1` says what is legal.
 *
 * @throws ConfigurationError when an option is not legal, and where the compiler's option `experimentalDecorators` is not
 * set
 */
export function IsSnowflake(
  options: IsSnowflakeOptions = {},
  validationOptions?: ValidationOptions,
): PropertyDecorator {
  const isBigInt = holdsBigInt(options);
  const { legal, read } = idText(options);
  const rule = isBigInt ? `a bigint from 0 to ${MAX_ID}` : legal;
  const validate = (value: unknown): boolean => (isBigInt ? isId(value) : read(value) !== undefined);
  const defaultMessage = buildMessage((each) => `${each}$property must be ${rule}`, validationOptions);
  const check = ValidateBy(
    { name: 'isSnowflake', constraints: [rule], validator: { validate, defaultMessage } },
    validationOptions,
  );
  return (target, property) => {
    refuseStandardDecorator('@IsSnowflake()', target, property);
    check(target, property);
    keepAsSent(target, property, isBigInt);
  };
}

function holdsBigInt(options: IsSnowflakeOptions): boolean {
  const reader = new OptionReader(options);
  const { as, ...texts } = readOptions(reader, isSnowflakeOptions);
  const isBigInt = as === 'bigint';
  for (const [name, given] of Object.entries(texts)) {
    if (isBigInt && given !== undefined) reader.problem(name, given, `is for strings; omit it with as: 'bigint'`);
  }
  reader.finish();
  return isBigInt;
}

function isId(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_ID;
}

/**
 * Makes class-transformer, where it is installed, leave a property as it was sent. Its conversion, implicit or by
 * `@Type(() => String)`, makes a text of a number that has lost digits already, and the text would pass for an ID. Of an
 * object for a bigint it makes a `new BigInt()`, which throws: the client would get a 500.
 */
function keepAsSent(target: object, property: string | symbol, isBigInt: boolean): void {
  const { Type, Transform } = loadClassTransformer() ?? {};
  // A property that has a @Type() is not converted implicitly. This one names no type. class-transformer calls the
  // property's declared type with `new` for a list, so that a Set of IDs becomes one; a stand-in of the class declares
  // none where it is BigInt.
  Type?.(() => undefined)(isBigInt ? { constructor: target.constructor } : target, property);
  if (isBigInt) return;
  // A @Type() in a decorator above is undone.
  Transform?.(({ value, key, obj }) => undoConversion(value, (obj as Record<string, unknown>)[key]), {
    toClassOnly: true,
  })(target, property);
}

/** Returns what was sent when `value` is only its text, else `value`. */
function undoConversion(value: unknown, sent: unknown): unknown {
  if (Array.isArray(sent) && isIterable(value)) {
    const values = [...value];
    return values.some((each, index) => isConvertedFrom(each, sent[index])) ? sent : value;
  }
  return isConvertedFrom(value, sent) ? sent : value;
}

/**
 * Whether `value` is the text of a number, a boolean or a bigint. The text of an object is never asked for:
 * `{"toString":1}` has none, and `[object Object]`, that of all others in JSON, is no ID.
 */
function isConvertedFrom(value: unknown, sent: unknown): boolean {
  const isConvertible = typeof sent === 'number' || typeof sent === 'boolean' || typeof sent === 'bigint';
  return isConvertible && value === String(sent);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return Array.isArray(value) || value instanceof Set;
}
