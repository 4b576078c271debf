import { ConfigurationError } from '@raindrop/core';
import {
  IdForm,
  type IdProperty,
  type IdValue,
  largestIdOf,
  oneOf,
  option,
  type OptionReader,
  type OptionsOf,
  PermanentError,
  type ReadOptions,
  readIdPrefix,
  resolveOptions,
  text,
} from '@raindrop/core/internal';
import { callOf, hasIdFunction, type IdFunction, openedService, readDatabaseDefault } from '@raindrop/node/internal';
import { type Database, DATABASES } from './databases.js';

/** The part of an `IdService` that a key uses. */
export interface KeyIds {
  /** A new ID. */
  nextId(code?: string): bigint;
  /** A new ID as decimal text. */
  nextString(code?: string): string;
  /** New IDs for a statement of several rows. */
  nextStrings?(count: number, code?: string): string[];
  /** New IDs, waiting for the next tick where this one is used up. */
  nextIdsAsync?(count: number, code?: string): Promise<bigint[]>;
  /** The size of the IDs, for the check of precision. @defaultValue 63 bits */
  readonly layout?: LayoutSize | undefined;
}

type GivenIds = KeyIds | (() => KeyIds | undefined);

/** Which IDs a key gets, and in which form. */
export const keyOptions = {
  /**
   * The service that issues the IDs, or a function that returns it, which is called for each ID.
   * @range an `IdService`, a function @defaultValue the open service that `service` names
   */
  ids: option<GivenIds, GivenIds | undefined>(readIds),
  /**
   * The name of the service that issues the IDs, where `ids` is not given. It is looked up when an ID is needed: a
   * schema may be declared before the service is opened.
   * @range 1-128 characters @defaultValue `default`
   */
  service: text({ pattern: /^[^]{1,128}$/, legal: 'the name of a service', default: 'default' }),
  /** The business kind of the IDs, with a sequence of its own. @range 1-128 characters @defaultValue none */
  code: text({ pattern: /^[^]{1,128}$/, legal: 'a string of 1 to 128 characters' }),
  /** The type of the values in the application. @range `string`, `bigint`, `number` @defaultValue `string` */
  as: oneOf<IdProperty>(['string', 'bigint', 'number'], { default: 'string' }),
  /**
   * Shows the ID as text that says what it identifies: `prefix: 'order'` gives `order_0Cc4kqJ3WmY`. Strings only.
   * @range 1-31 of a-z, 0-9 and `_` @defaultValue none
   */
  prefix: option<string, string | undefined, { readonly as: IdProperty }>(readIdPrefix),
  /**
   * The column has the default `raindrop_id()` on PostgreSQL, for rows that no application inserts. The ORM's own inserts
   * get IDs of the process all the same. A text names another function, such as `shop.next_id`.
   * @range true, false, the name of a function @defaultValue false
   */
  databaseDefault: option<boolean | string, IdFunction | undefined>(readDatabaseDefault),
};

/** The options say which service gives a key its IDs, and in which form. */
export interface KeyOptions extends OptionsOf<typeof keyOptions> {}

function readIds(reader: OptionReader, name: string): GivenIds | undefined {
  const ids = reader.value(name) as Partial<KeyIds> | undefined | null;
  if (ids === undefined || typeof ids === 'function' || typeof ids?.nextId === 'function') {
    return ids as GivenIds | undefined;
  }
  reader.problem(name, ids, 'must be an IdService, or a function that returns one: ids: () => service');
  return undefined;
}

/** The part of a layout that a key uses. */
export interface LayoutSize {
  /** All bits of an ID, without the sign bit. */
  readonly bits: number;
}

type DefaultProblem = ConstructorParameters<typeof ConfigurationError>[0][number];

/** The IDs of one key. Every entry of this package takes them from here. */
export class Keys {
  /** How the application sees the IDs, and how a database value is read. */
  readonly form: IdForm;
  readonly as: IdProperty;
  /** The function of the database that fills rows which no application inserts. */
  readonly databaseDefault: IdFunction | undefined;
  private readonly ids: () => KeyIds;
  private readonly code: string | undefined;

  /**
   * @param place `table.column` or the like, for messages
   * @throws ConfigurationError for options that cannot work; it names the place
   */
  constructor(
    readonly place: string,
    options: KeyOptions = {},
  ) {
    const { ids, service, code, as, prefix, databaseDefault } = checked(place, options);
    this.form = new IdForm(as, prefix);
    this.as = as;
    this.databaseDefault = databaseDefault;
    this.code = code;
    const given = typeof ids === 'function' ? ids : () => ids;
    this.ids = () => given() ?? openedService<KeyIds & { readonly name: string }>(service);
  }

  /**
   * Returns a new ID as the application sees it.
   * @throws NoOpenServiceError when no service is given or open; UnsafeSnowflakeError when a number cannot hold the ID;
   * what the service throws while it cannot issue
   */
  next(): IdValue {
    const ids = this.ids();
    return this.form.isDecimalText ? ids.nextString(this.code) : this.form.of(ids.nextId(this.code), this.place);
  }

  /** As {@link next}, for so many rows: one call takes a third of the time of many. */
  take(count: number): readonly IdValue[] {
    const ids = this.ids();
    if (this.form.isDecimalText && ids.nextStrings !== undefined) return ids.nextStrings(count, this.code);
    return Array.from({ length: count }, () => this.next());
  }

  /**
   * As {@link take}, for an ORM that can wait where that helps: when a tick is used up, say.
   * @throws what the service throws where waiting does not help, or after it waited
   */
  async takeWaiting(count: number): Promise<readonly IdValue[]> {
    try {
      return this.take(count);
    } catch (error) {
      const ids = this.ids();
      if ((error as { retryable?: boolean }).retryable !== true || ids.nextIdsAsync === undefined) throw error;
      return (await ids.nextIdsAsync(count, this.code)).map((id) => this.form.of(id, this.place));
    }
  }

  /**
   * Returns the default of the column in SQL, `raindrop_id()`; undefined without one.
   * @throws ConfigurationError for a database that has no such function
   */
  defaultOn(database: Database): string | undefined {
    const { databaseDefault } = this;
    if (databaseDefault === undefined) return undefined;
    const problem = this.defaultProblem(database);
    if (problem !== undefined) throw new ConfigurationError([problem]);
    return callOf(databaseDefault);
  }

  /**
   * Returns what is wrong with `databaseDefault` on a database.
   * @param place `table.column` or the like, where the declaration did not know it
   */
  defaultProblem(database: Database, place = this.place): DefaultProblem | undefined {
    const { databaseDefault } = this;
    if (databaseDefault === undefined || hasIdFunction(DATABASES[database].dialect)) return undefined;
    const message = `is for PostgreSQL, and the database is ${DATABASE_NAMES[database]}. ${LEAVE_OUT}`;
    return { option: `${place}: databaseDefault`, given: callOf(databaseDefault), message };
  }

  /**
   * Refuses typed IDs that the database keeps as texts: its function returns a bigint.
   * @throws ConfigurationError
   */
  refuseTypedDefault(): void {
    const { databaseDefault, form, place } = this;
    if (databaseDefault === undefined || form.prefix === undefined) return;
    const message =
      `would write a number into a text column of IDs such as ${form.prefix}_0Cc4kqJ3WmY. Leave databaseDefault or ` +
      'prefix out';
    const option = `${place}: databaseDefault`;
    throw new ConfigurationError([{ option, given: callOf(databaseDefault), message }]);
  }

  /**
   * Returns the largest ID that it may get: of its service's layout, and one that a number holds where the key is one.
   * @param elsewhere the layout of a service that is not open in this process
   * @throws NoOpenServiceError when no service is open, and no layout given
   */
  largest(elsewhere?: LayoutSize): bigint {
    const largest = largestIdOf(this.layoutOr(elsewhere));
    return this.as === 'number' && largest > Number.MAX_SAFE_INTEGER ? BigInt(Number.MAX_SAFE_INTEGER) : largest;
  }

  private layoutOr(elsewhere: LayoutSize | undefined): LayoutSize | undefined {
    let ids: KeyIds;
    try {
      ids = this.ids();
    } catch (error) {
      if (elsewhere === undefined) throw error;
      return elsewhere;
    }
    try {
      return ids.layout;
    } catch {
      // Numbers from segments have no layout. They begin at 1, and a driver's number holds all that are ever issued.
      return { bits: 53 };
    }
  }
}

const DATABASE_NAMES: Readonly<Record<Database, string>> = {
  postgres: 'PostgreSQL',
  mysql: 'MariaDB or MySQL',
  sqlite: 'SQLite',
};

const LEAVE_OUT =
  'Leave it out: the ORM gives every row that it inserts an ID. For several databases let a variable decide: ' +
  'databaseDefault: isPostgres';

function checked(place: string, options: KeyOptions): ReadOptions<typeof keyOptions> {
  try {
    return resolveOptions(keyOptions, options);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.problems.map((each) => ({ ...each, option: `${place}: ${each.option}` })));
  }
}

/**
 * The cause says why an insert was refused. `select`: its rows come from a query, which has no ID for each. `merge`: one
 * parameter would be the ID of all rows that a MERGE inserts. `replace`: a REPLACE would delete an existing row and its key.
 * `key-update`: an upsert would change the key of the row that it finds. `no-conflict`: an upsert names nothing by which an
 * existing row would be found. `unfilled`: the statement reached the database by a way that puts no IDs. `prepared`: a
 * prepared insert that holds one ID was executed again.
 */
export type InsertRefusal = 'select' | 'merge' | 'replace' | 'key-update' | 'no-conflict' | 'unfilled' | 'prepared';

/** An insert could not be given its IDs, or would have given a row a wrong one. Nothing was written. */
export class InsertRefusedError extends PermanentError {
  static override readonly name = 'InsertRefusedError';
  readonly errorCode = 'INSERT_REFUSED';

  constructor(
    /** `table.column`. */
    readonly column: string,
    readonly why: InsertRefusal,
    /** The cause and the cure. The message is the column and this text. */
    wayOut: string,
  ) {
    super(`${column} ${wayOut}`);
  }
}
