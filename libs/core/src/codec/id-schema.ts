import { ConfigurationError, OptionReader } from '../config/option-reader.js';
import { oneOf, type OptionsOf, readOptions } from '../config/option-rules.js';
import { showValue } from '../show-value.js';
import { InvalidIdError } from './id-codec.js';
import {
  describeIdText,
  ID_FORMS,
  idText,
  type IdText,
  type IdTextOf,
  type IdTextOptions,
  idTextOptions,
  type HeldId,
  type ParsedIdForm,
  refuseLostCodec,
} from './id-text.js';
import { type IdLike, toId } from './to-id.js';

/** The texts of the IDs, and the form in which a program holds them. */
export const idSchemaOptions = {
  ...idTextOptions,
  /**
   * The form in which the program holds an ID: `decimal` digits, as entities hold them; a `bigint`; or the `text` that
   * the client sent, after a check.
   * @range `decimal`, `bigint`, `text` @defaultValue `decimal`; with a prefix `text`, as typed columns hold it
   */
  as: oneOf(ID_FORMS, { default: ({ prefix }: IdTextOptions) => (prefix === undefined ? 'decimal' : 'text') }),
};

/** The options of {@link idSchema}: the texts of the IDs, and the form in which a program holds them. */
export interface IdSchemaOptions<
  As extends ParsedIdForm | undefined = ParsedIdForm | undefined,
  Prefix extends string | undefined = string | undefined,
> extends Omit<OptionsOf<typeof idSchemaOptions>, 'as' | 'prefix'> {
  /** Default `decimal`; with a prefix `text`, as typed columns hold it. */
  as?: As;
  /** For typed IDs: the text before the `_`. */
  prefix?: Prefix;
}

/**
 * What [Standard Schema](https://standardschema.dev) and Standard JSON Schema ask of a schema, as far as IDs need it. It
 * fits `StandardSchemaV1` and `StandardJSONSchemaV1` of `@standard-schema/spec`, which Raindrop does not need.
 */
export interface StandardIdSchema<Input, Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'raindrop';
    /**
     * Never returns a promise, and throws only what a codec of your own throws besides `InvalidIdError`. The message of an
     * issue does not show the value.
     */
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly [{ readonly message: string }] };
    readonly jsonSchema: {
      /** @throws ConfigurationError for another target than `draft-2020-12`, `draft-07` and `openapi-3.0`, and for bigints */
      readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
      /** @throws ConfigurationError for another target than `draft-2020-12`, `draft-07` and `openapi-3.0`, and for bigints */
      readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
    };
    /** Never set: holds the types. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The version of JSON Schema that a caller asks for. */
interface JsonSchemaOptions {
  readonly target: string;
}

/** A schema that reads the texts of clients, and in {@link encoder} the one that writes them. */
export interface IdSchema<Id, Text extends string = string> extends StandardIdSchema<string, Id> {
  /**
   * The other direction, for answers: takes the ID of a row and returns the text that clients see. It accepts decimal
   * digits, a bigint or a safe integer; with `as: 'text'` the text itself or a bigint.
   */
  readonly encoder: StandardIdSchema<IdLike, Text>;
}

/**
 * Makes a schema of IDs for everything that takes a Standard Schema, such as Nest 12 in `@Param('id', { schema })` and
 * ArkType. It accepts what `ParseIdPipe` accepts with the same options, and its messages say the same.
 *
 *     const orderId = idSchema({ codec: orderIds });
 *     find(@Param('id', { schema: orderId }) id: string)
 *     const OrderView = type({ id: orderId.encoder, customer: 'string' });
 *
 * Zod takes no foreign schemas: `zodId()` of `@raindrop/nestjs/zod` makes one of its own.
 *
 * The JSON Schema of the text has type, pattern, length and an example. A bigint has none: `as: 'bigint'` throws where it
 * is asked for.
 *
 * @throws ConfigurationError when an option is not legal
 */
export function idSchema<
  const As extends ParsedIdForm | undefined = undefined,
  const Prefix extends string | undefined = undefined,
>(options: IdSchemaOptions<As, Prefix> = {}): IdSchema<HeldId<As, Prefix>, IdTextOf<Prefix>> {
  const reader = new OptionReader(options);
  const { as, ...textOptions } = readOptions(reader, idSchemaOptions);
  refuseLostCodec(reader, options);
  reader.finish();
  const text = idText(textOptions);
  const onWire = describe(textOptions);
  const inProgram = as === 'text' ? onWire : describe(as === 'decimal' ? {} : undefined);

  const encoder = standard(encode(text, as), { input: inProgram, output: onWire });
  const decoder = standard(decode(text, as), { input: onWire, output: inProgram });
  return Object.freeze({ ...decoder, encoder }) as IdSchema<HeldId<As, Prefix>, IdTextOf<Prefix>>;
}

type Validate<Output> = StandardIdSchema<unknown, Output>['~standard']['validate'];
type Describe = StandardIdSchema<unknown, unknown>['~standard']['jsonSchema']['input'];

function standard<Output>(
  validate: Validate<Output>,
  jsonSchema: { readonly input: Describe; readonly output: Describe },
): StandardIdSchema<unknown, Output> {
  return Object.freeze({ '~standard': Object.freeze({ version: 1, vendor: 'raindrop', validate, jsonSchema }) });
}

function refused(message: string): { readonly issues: readonly [{ readonly message: string }] } {
  return { issues: [{ message }] };
}

function decode(text: IdText, as: ParsedIdForm): Validate<unknown> {
  return (value) => {
    const id = text.read(value);
    if (id === undefined) return refused(text.rule);
    if (as === 'text') return { value };
    return { value: as === 'bigint' ? id : id.toString() };
  };
}

function encode(text: IdText, as: ParsedIdForm): Validate<string> {
  const legal = as === 'text' ? `${text.legal}, or a bigint` : 'decimal digits, a bigint or a safe integer';
  const read = (value: unknown): bigint | undefined =>
    as === 'text' && typeof value !== 'bigint' ? text.read(value) : orUndefined(() => toId(value as IdLike));
  return (value) => {
    const id = read(value);
    if (id === undefined) return refused(`an ID to show must be ${legal}`);
    const shown = orUndefined(() => text.codec.encode(id));
    return shown === undefined ? refused(`${text.codec.name} cannot write an ID of this size`) : { value: shown };
  };
}

/** What fails here may be an ID that must not be shown: the error, which shows it, is dropped. */
function orUndefined<Result>(attempt: () => Result): Result | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof InvalidIdError) return undefined;
    throw error;
  }
}

/** The keyword for examples in each version of JSON Schema. */
const EXAMPLES: Readonly<Record<string, (example: string) => object>> = {
  'draft-2020-12': (example) => ({ examples: [example] }),
  'draft-07': (example) => ({ examples: [example] }),
  'openapi-3.0': (example) => ({ example }),
};

/** @param options undefined for bigints */
function describe(options: IdTextOptions | undefined): Describe {
  return ({ target }) => {
    if (!Object.hasOwn(EXAMPLES, target)) {
      const message = `must be one of ${Object.keys(EXAMPLES).join(', ')}`;
      throw new ConfigurationError([{ option: 'target', given: showValue(target), message }]);
    }
    if (options === undefined) {
      const message = `has no JSON Schema: JSON has no bigints. Use 'decimal' or 'text'`;
      throw new ConfigurationError([{ option: 'as', given: `'bigint'`, message }]);
    }
    const { schema, example } = describeIdText(options);
    return { ...schema, ...EXAMPLES[target]!(example) };
  };
}
