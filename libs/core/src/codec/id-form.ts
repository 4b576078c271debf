import { ConfigurationError, type OptionReader } from '../config/option-reader.js';
import { PermanentError } from '../raindrop-error.js';
import { decimal } from './codecs.js';
import { InvalidIdError } from './id-codec.js';
import { typedId, type TypedIdCodec } from './typed-id.js';

/** The form in which a property holds an ID: decimal text, a number (exact up to 2^53 - 1 only) or a bigint. */
export type IdProperty = 'string' | 'number' | 'bigint';

export type IdValue = string | number | bigint;

const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** How a property shows IDs that the database keeps as `bigint`: the only place where one becomes the other. */
export class IdForm {
  /** Whether properties hold the very text that the database is given. */
  readonly isDecimalText: boolean;
  private readonly typed: TypedIdCodec | undefined;

  constructor(
    private readonly as: IdProperty,
    /** The prefix of typed IDs, which the database cannot compare as they are. */
    readonly prefix?: string,
  ) {
    this.typed = prefix === undefined ? undefined : typedId(prefix);
    this.isDecimalText = as === 'string' && this.typed === undefined;
  }

  /** @throws UnsafeSnowflakeError when a number cannot hold the ID */
  of(id: bigint, column?: string): IdValue {
    if (this.isDecimalText) return id.toString();
    if (this.typed !== undefined) return this.typed.encode(id);
    if (this.as === 'bigint') return id;
    if (id > Number.MAX_SAFE_INTEGER) throw new UnsafeSnowflakeError(column, id.toString(), 'source');
    return Number(id);
  }

  /**
   * A database value as the property holds it. Drivers return a `bigint` column as text, number or bigint: all three are
   * read. Other values, such as null, are returned as they are.
   * @throws UnsafeSnowflakeError for a number that has lost digits, or what does not fit the property
   */
  read(value: unknown, column?: string): unknown {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new UnsafeSnowflakeError(column, value, 'database');
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
    if (this.typed !== undefined) return this.readTyped(this.typed, value, column);
    if (this.as === 'string') return String(value);
    if (this.as === 'number') {
      const number = Number(value);
      if (Number.isSafeInteger(number)) return number;
    } else if (typeof value !== 'string' || /^-?\d+$/.test(value)) return BigInt(value);
    throw new UnsafeSnowflakeError(column, String(value), 'database');
  }

  /**
   * A property's value as it is bound: decimal text, which is exact on every driver and can be logged as JSON. Values
   * that are neither text, number nor bigint (SQL expressions, null) are returned as they are.
   * @throws UnsafeSnowflakeError for a number that is negative, broken, or has lost digits
   * @throws InvalidIdError for every other text: MariaDB would take `12abc` for 12, SQLite keep it as it is
   */
  write(value: unknown, column?: string): unknown {
    if (typeof value === 'bigint') return decimal.encode(value);
    if (typeof value === 'string') {
      if (this.isDecimalText && isSmallDecimal(value)) return value;
      return decoded(this.typed ?? decimal, value, column);
    }
    if (typeof value !== 'number') return value;
    if (Number.isSafeInteger(value) && value >= 0) return String(value);
    throw new UnsafeSnowflakeError(column, value, 'application');
  }

  /**
   * As {@link write}, for conditions. There a typed text may also be decimal: TypeORM 0.3 hands over operators whose
   * values it has replaced already.
   */
  compare(value: unknown, column?: string): unknown {
    if (this.typed !== undefined && typeof value === 'string' && /^\d+$/.test(value))
      return decoded(decimal, value, column);
    return this.write(value, column);
  }

  private readTyped(typed: TypedIdCodec, value: IdValue, column: string | undefined): string {
    // After an insert TypeORM reads back what it took from the entity.
    if (typeof value === 'string' && value.startsWith(`${typed.prefix}_`)) return typed.encode(typed.decode(value));
    try {
      return typed.encode(typeof value === 'string' ? decimal.decode(value) : BigInt(value));
    } catch (error) {
      if (error instanceof InvalidIdError) throw new UnsafeSnowflakeError(column, String(value), 'database');
      throw error;
    }
  }
}

/** @throws InvalidIdError, which names the column */
function decoded(codec: Pick<TypedIdCodec, 'decode'>, value: string, column: string | undefined): string {
  try {
    return codec.decode(value).toString();
  } catch (error) {
    if (!(error instanceof InvalidIdError)) throw error;
    throw new InvalidIdError(error.codec, value, error.legal, column);
  }
}

/**
 * Whether a text is certainly an ID: 1 to 18 digits without a leading zero. It is called for every inserted row: this
 * loop takes 50 ns, a regular expression 100, and to convert the text to a bigint and back 250.
 */
function isSmallDecimal(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > 18) return false;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < DIGIT_0 || unit > DIGIT_9) return false;
  }
  return length === 1 || text.charCodeAt(0) !== DIGIT_0;
}

/** Reads the option `prefix` of a key: the prefix of typed IDs, which are texts. */
export function readIdPrefix(
  reader: OptionReader,
  name: string,
  { as }: { readonly as: IdProperty },
): string | undefined {
  const prefix = reader.value(name) as string | undefined;
  if (prefix === undefined) return undefined;
  if (as !== 'string') reader.problem(name, prefix, `requires a string property, not a ${as}`);
  const fault = faultOf(prefix);
  if (fault !== undefined) reader.problem(name, prefix, fault);
  return prefix;
}

/** Says what is wrong with the prefix of a typed ID; undefined for a legal one. */
function faultOf(prefix: string): string | undefined {
  try {
    typedId(prefix);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems[0]!.message;
    throw error;
  }
}

/** The value is no ID any more, or cannot be one: above 2^53 - 1 a JavaScript number has lost digits. */
export class UnsafeSnowflakeError extends PermanentError {
  static override readonly name = 'UnsafeSnowflakeError';
  readonly errorCode = 'UNSAFE_SNOWFLAKE';

  constructor(
    /** `Entity.property` or `table.column`; undefined when it is not known. */
    readonly column: string | undefined,
    readonly given: string | number,
    /** Where the value came from. */
    readonly origin: 'database' | 'application' | 'source',
    /** The remedy; by default the one for the origin. */
    wayOut: string = WAY_OUT[origin],
  ) {
    super(
      `${column ?? 'An ID column'}: ${typeof given === 'string' ? JSON.stringify(given.slice(0, 48)) : given} ` +
        `${MEANING[origin]} ${wayOut}`,
    );
  }
}

const MEANING = {
  database: 'from the database driver is not an exact ID for this property: numbers lose digits above 2^53 - 1.',
  application: 'is not an ID: a number must be an integer from 0 to 2^53 - 1.',
  source: 'does not fit a JavaScript number: the IDs have passed 2^53 - 1.',
} as const;

const WAY_OUT = {
  database:
    'Make the property a string and have the driver return exact integers: better-sqlite3 with prepareDatabase: ' +
    'safeSqliteIntegers, mysql2 with supportBigNumbers, pg without parseInt8.',
  application: 'Pass IDs as strings or bigints.',
  source: 'Make the property a string.',
} as const;
