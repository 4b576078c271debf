/**
 * IDs as the keys of Drizzle's tables: on PostgreSQL, MySQL and MariaDB, and SQLite.
 *
 *     export const orders = pgTable('orders', { id: snowflake().primaryKey(), customer: text().notNull() });
 *
 * @module @raindrop/orm/drizzle
 */

import { getTableName, is, type Param, sql, type Table } from 'drizzle-orm';
import { customType as mysqlType, MySqlTable } from 'drizzle-orm/mysql-core';
import { customType as pgType, PgTable } from 'drizzle-orm/pg-core';
import { customType as sqliteType, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ConfigurationError } from '@raindrop/core';
import { type IdProperty, type IdValue, UnsafeSnowflakeError } from '@raindrop/core/internal';
import { InsertRefusedError, type KeyOptions, Keys } from './ids.js';

export { InsertRefusedError, type InsertRefusal, type KeyIds, type KeyOptions } from './ids.js';
export { UnsafeSnowflakeError } from '@raindrop/core/internal';

/**
 * Declares a column that gets an ID in every inserted row that has none. `pgTable`, `mysqlTable` and `sqliteTable` take
 * it alike. The database keeps a `bigint`. SQLite keeps a text, because its integers lose digits on the way to the
 * application, and sorts it as a text; with `as: 'number'` it keeps an integer.
 *
 * A prepared insert gets a new ID at each execution; on MySQL and MariaDB it can be executed once.
 */
export function snowflake<As extends IdProperty = 'string', Prefix extends string = never>(
  options?: KeyOptions & Form<As, Prefix>,
): GeneratedColumn<'', IdOf<As, Prefix>>;
export function snowflake<Name extends string, As extends IdProperty = 'string', Prefix extends string = never>(
  name: Name,
  options?: KeyOptions & Form<As, Prefix>,
): GeneratedColumn<Name, IdOf<As, Prefix>>;
export function snowflake(name?: string | KeyOptions, options?: KeyOptions): unknown {
  return new SnowflakeColumn(true, name, options);
}

/**
 * Declares a column that holds the ID of another row, such as a foreign key. Nothing fills it. Its form is that of the
 * key to which it refers:
 *
 *     customerId: snowflakeReference().notNull().references(() => customers.id)
 */
export function snowflakeReference<As extends IdProperty = 'string', Prefix extends string = never>(
  options?: Form<As, Prefix>,
): IdColumn<'', IdOf<As, Prefix>>;
export function snowflakeReference<
  Name extends string,
  As extends IdProperty = 'string',
  Prefix extends string = never,
>(name: Name, options?: Form<As, Prefix>): IdColumn<Name, IdOf<As, Prefix>>;
export function snowflakeReference(name?: string | KeyOptions, options?: KeyOptions): unknown {
  return new SnowflakeColumn(false, name, options);
}

/** The form in which the application sees the IDs of a column. */
interface Form<As extends IdProperty, Prefix extends string> {
  readonly as?: As;
  readonly prefix?: Prefix;
}

/** The type of an ID in this form. */
type IdOf<As extends IdProperty, Prefix extends string> = [Prefix] extends [never]
  ? { string: string; bigint: bigint; number: number }[As]
  : `${Prefix}_${string}`;

/** A column for the tables of all dialects. Drizzle takes its types from `_`, which does not exist at run time. */
export interface IdColumn<Name extends string, Id> {
  readonly _: {
    brand: 'ColumnBuilder';
    name: Name;
    dataType: 'custom';
    columnType: 'Snowflake';
    data: Id;
    driverParam: IdValue;
    notNull: boolean;
    hasDefault: boolean;
    enumValues: undefined;
    identity: unknown;
    generated: unknown;
    dialect: never;
  };
  /** Makes the column the primary key. */
  primaryKey(): this & Has<'notNull' | 'isPrimaryKey'>;
  /** Forbids null. */
  notNull(): this & Has<'notNull'>;
  /** Forbids the same ID twice, by a constraint of that name. */
  unique(name?: string): this;
  /** Makes the column a foreign key. */
  references(column: () => ReferencedColumn, actions?: ReferenceActions): this;
  /** Narrows the type of the values, such as to a branded text. */
  $type<Narrow extends Id>(): this & { readonly _: { $type: Narrow } };
}

/** A column that is filled: optional in inserts, never null. */
export type GeneratedColumn<Name extends string, Id> = IdColumn<Name, Id> &
  Has<'notNull' | 'hasDefault' | 'hasRuntimeDefault'>;

type Has<Flag extends string> = { readonly _: { [Each in Flag]: true } };

interface ReferencedColumn {
  readonly name: string;
  readonly columnType: string;
}

interface ReferenceActions {
  readonly onUpdate?: ReferenceAction;
  readonly onDelete?: ReferenceAction;
}

type ReferenceAction = 'cascade' | 'restrict' | 'no action' | 'set null' | 'set default';

/** What Drizzle calls of a column while it makes a table. Its declarations leave most of it out. */
interface DrizzleBuilder {
  primaryKey(): unknown;
  notNull(): unknown;
  unique(name?: string): unknown;
  references(column: unknown, actions: unknown): unknown;
  $defaultFn(make: () => unknown): unknown;
  setName(name: string): void;
  build(table: Table): unknown;
  buildForeignKeys(column: unknown, table: Table): unknown[];
  buildExtraConfigColumn(table: Table): unknown;
}

/**
 * Only the table says for which database it is. So the column keeps the calls, and makes them on a builder of Drizzle's
 * own when a table is declared.
 */
class SnowflakeColumn {
  private readonly name: string;
  private readonly options: KeyOptions;
  private readonly calls: ((builder: DrizzleBuilder) => unknown)[] = [];
  /** The property in the table, which Drizzle tells before it builds the column. */
  private key = '';

  constructor(
    private readonly isGenerated: boolean,
    name: string | KeyOptions = '',
    options: KeyOptions = {},
  ) {
    this.name = typeof name === 'string' ? name : '';
    this.options = typeof name === 'string' ? options : name;
    if (isGenerated) this.notNull();
  }

  primaryKey(): this {
    return this.keep((builder) => builder.primaryKey());
  }

  notNull(): this {
    return this.keep((builder) => builder.notNull());
  }

  unique(name?: string): this {
    return this.keep((builder) => builder.unique(name));
  }

  references(column: unknown, actions: unknown = {}): this {
    return this.keep((builder) => builder.references(column, actions));
  }

  $type(): this {
    return this;
  }

  setName(key: string): void {
    this.key = key;
  }

  build(table: Table): unknown {
    return this.builder(table).build(table);
  }

  buildForeignKeys(column: unknown, table: Table): unknown[] {
    return this.builder(table).buildForeignKeys(column, table);
  }

  /** Of PostgreSQL, for indexes. */
  buildExtraConfigColumn(table: Table): unknown {
    return this.builder(table).buildExtraConfigColumn(table);
  }

  private keep(call: (builder: DrizzleBuilder) => unknown): this {
    this.calls.push(call);
    return this;
  }

  private builder(table: Table): DrizzleBuilder {
    const keys = new Keys(`${getTableName(table)}.${this.name || this.key}`, this.options);
    const builder = this.builderOf(table, keys);
    builder.setName(this.key);
    for (const call of this.calls) call(builder);
    return builder;
  }

  private builderOf(table: Table, keys: Keys): DrizzleBuilder {
    if (is(table, PgTable)) return this.customBuilder(pgType, 'bigint', new IdsAtExecution(keys));
    if (is(table, MySqlTable)) return this.customBuilder(mysqlType, 'bigint', new IdsForOneExecution(keys));
    if (is(table, SQLiteTable)) {
      return this.customBuilder(sqliteType, this.options.as === 'number' ? 'bigint' : 'text', new IdsAtExecution(keys));
    }
    const kind = (table as Table).constructor.name;
    throw new ConfigurationError([
      { option: keys.place, given: kind, message: 'stands in no pgTable, mysqlTable or sqliteTable' },
    ]);
  }

  private customBuilder(customType: unknown, dataType: string, ids: ColumnIds): DrizzleBuilder {
    const makeBuilder = (customType as CustomType)({
      dataType: () => dataType,
      toDriver: (value) => ids.bind(value),
      fromDriver: (value) => readId(ids.keys, value),
    });
    const builder = makeBuilder(this.name);
    if (this.isGenerated) builder.$defaultFn(() => ids.make());
    return builder;
  }
}

type CustomType = (mapping: {
  dataType(): string;
  toDriver(value: unknown): unknown;
  fromDriver(value: unknown): unknown;
}) => (name: string) => DrizzleBuilder;

interface ColumnIds {
  readonly keys: Keys;
  /** Returns the value of a row that has none, while the statement is built. */
  make(): unknown;
  /** Returns a value as the driver gets it, or a parameter in its place. */
  bind(value: unknown): unknown;
}

/** A statement is built once and may be executed often: the value of a row makes an ID at each execution. */
class IdsAtExecution implements ColumnIds {
  private readonly id: Param;

  constructor(readonly keys: Keys) {
    this.id = atExecution(keys, () => keys.form.write(keys.next(), keys.place));
  }

  make(): Param {
    return this.id;
  }

  bind(value: unknown): unknown {
    return this.keys.form.write(value, this.keys.place);
  }
}

/**
 * MySQL gives nothing back of an inserted row: `$returningId()` returns what was made while the statement was built, so
 * that has to be the ID itself. The statement writes these IDs at its first execution and refuses a second one.
 */
class IdsForOneExecution implements ColumnIds {
  /** Drizzle makes the IDs of all rows of a statement, then it binds them. The last one brings the refusal along. */
  private last: IdValue | undefined;

  constructor(readonly keys: Keys) {}

  make(): IdValue {
    return (this.last = this.keys.next());
  }

  bind(value: unknown): unknown {
    const { keys } = this;
    const bound = keys.form.write(value, keys.place);
    if (value === undefined || value !== this.last) return bound;
    this.last = undefined;
    let isExecuted = false;
    return atExecution(keys, () => {
      if (isExecuted) executedBefore(keys);
      isExecuted = true;
      return bound;
    });
  }
}

/**
 * A parameter whose value Drizzle asks for at each execution. It asks the parameter's encoder, where the object with the
 * values of placeholders has a property of the placeholder's name; `{}` has a `constructor`. The encoder ignores what is
 * in it.
 */
function atExecution(keys: Keys, value: () => unknown): Param {
  const parameter = sql.param(sql.placeholder('constructor'), { mapToDriverValue: value });
  // `db.batch` hands the parameter itself over to the driver, and drivers write objects as JSON or text.
  const refuse = { value: (): never => unfilled(keys) };
  return Object.defineProperties(parameter, { toJSON: refuse, toString: refuse });
}

function unfilled({ place }: Keys): never {
  throw new InsertRefusedError(
    place,
    'unfilled',
    'got no ID: db.batch() and toSQL() leave out the step that makes it. Use a transaction, or pass the ID: ' +
      'values({ id: ids.nextString() }).',
  );
}

function executedBefore({ place }: Keys): never {
  throw new InsertRefusedError(
    place,
    'prepared',
    'cannot get another ID: this prepared insert was executed before, and on MySQL it holds one ID. Build the insert ' +
      "for each row, or pass the ID: values({ id: sql.placeholder('id') }), execute({ id: ids.nextString() }).",
  );
}

/** @throws UnsafeSnowflakeError for a number that has lost digits, and for what is no ID, such as JSON */
function readId({ form, place }: Keys, value: unknown): unknown {
  if (typeof value === 'string' ? /^-?\d/.test(value) : typeof value === 'bigint' || Number.isSafeInteger(value)) {
    return form.read(value, place);
  }
  const given = typeof value === 'object' ? JSON.stringify(value) : (value as string | number);
  throw new UnsafeSnowflakeError(place, given, 'database', WAY_OUT);
}

const WAY_OUT =
  'A relation that `with` loads comes as JSON, whose numbers lose digits. Let pg keep them, ' +
  'pg.types.setTypeParser(pg.types.builtins.JSON, exactJson), or join. Let mysql2 deliver exact integers: ' +
  'supportBigNumbers: true.';

/**
 * Parses JSON as `JSON.parse` does, but integers that a number cannot hold become texts. Drizzle's `with` is exact on
 * PostgreSQL with it: `pg.types.setTypeParser(pg.types.builtins.JSON, exactJson)`, once in a process.
 */
export function exactJson(json: string): unknown {
  if (!/\d{16}/.test(json)) return JSON.parse(json);
  return JSON.parse(
    json.replace(STRING_OR_NUMBER, (token) => {
      const isRounded = INTEGER.test(token) && !Number.isSafeInteger(Number(token));
      return isRounded ? `"${token}"` : token;
    }),
  );
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;
