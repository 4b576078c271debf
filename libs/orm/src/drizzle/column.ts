/** A column of Drizzle's tables that gets IDs, or refers to one that does. */

import { inspect } from 'node:util';
import { type Column, entityKind, getTableName, is, type SQL, sql, type Table } from 'drizzle-orm';
import { customType as mysqlType, MySqlTable } from 'drizzle-orm/mysql-core';
import { customType as pgType, PgTable } from 'drizzle-orm/pg-core';
import { customType as sqliteType, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ConfigurationError, InvalidIdError, UnsafeSnowflakeError } from '@raindrop/core';
import type { IdProperty, IdValue } from '@raindrop/core/internal';
import type { Database } from '../databases.js';
import { InsertRefusedError, type KeyOptions, Keys } from '../ids.js';

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
    // Drizzle 1.0 takes no undefined for these two with `exactOptionalPropertyTypes`. An identity by default may be given too.
    enumValues: string[];
    identity: 'byDefault';
    generated: undefined;
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

/** Makes the name of a column from the name of its property. */
type Casing = (key: string) => string;

/** The methods of a column that Drizzle calls while it makes a table. Its declarations omit most of them. */
interface DrizzleBuilder {
  primaryKey(): unknown;
  notNull(): unknown;
  unique(name?: string): unknown;
  references(column: unknown, actions: unknown): unknown;
  $defaultFn(make: () => unknown): unknown;
  default(value: unknown): unknown;
  setName(key: string, casing?: Casing): void;
  build(table: Table): unknown;
  buildForeignKeys(column: unknown, table: Table): unknown[];
  buildExtraConfigColumn(table: Table): unknown;
}

/**
 * Only the table knows its database. So the column records the calls, and repeats them on Drizzle's own builder when a table
 * is declared.
 */
class SnowflakeColumn {
  private readonly name: string;
  private readonly options: KeyOptions;
  private readonly calls: ((builder: DrizzleBuilder) => unknown)[] = [];
  /** The property in the table, which Drizzle tells before it builds the column. */
  private key = '';
  /** How Drizzle 1.0 makes the column's name of the property, in tables of `snakeCase`. */
  private casing: Casing | undefined;

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

  setName(key: string, casing?: Casing): void {
    this.key = key;
    this.casing = casing;
  }

  build(table: Table): unknown {
    const column = this.builder(table).build(table) as Column;
    const ids: IdsColumn = { isGenerated: this.isGenerated, keys: this.keysOf(table) };
    COLUMNS.set(column, ids);
    Object.defineProperty(column, IDS, { value: ids });
    return column;
  }

  buildForeignKeys(column: unknown, table: Table): unknown[] {
    return this.builder(table).buildForeignKeys(column, table);
  }

  /** PostgreSQL's tables call it, for indexes. */
  buildExtraConfigColumn(table: Table): unknown {
    return this.builder(table).buildExtraConfigColumn(table);
  }

  private keep(call: (builder: DrizzleBuilder) => unknown): this {
    this.calls.push(call);
    return this;
  }

  private builder(table: Table): DrizzleBuilder {
    const keys = this.keysOf(table);
    const dialect = DIALECTS.find((each) => is(table, each.table));
    if (dialect === undefined) {
      const message = 'is in no pgTable, mysqlTable or sqliteTable';
      throw new ConfigurationError([{ option: keys.place, given: table.constructor.name, message }]);
    }
    const ids = this.isGenerated ? new dialect.Ids(keys) : undefined;
    const bindReference = (value: unknown): unknown => (value == null ? value : bindId(keys, value));
    const builder = (dialect.customType as CustomType)({
      dataType: () => dialect.dataType(this.options.as),
      toDriver: ids === undefined ? bindReference : (value) => ids.bind(value),
      fromDriver: (value) => readId(keys, value),
      forJsonSelect: (identifier, ofDrizzle) => dialect.inJson?.(identifier, ofDrizzle) ?? identifier,
    })(this.name);
    builder.setName(this.key, this.casing);
    if (ids !== undefined) {
      builder.$defaultFn(() => ids.make());
      const inDatabase = keys.defaultOn(dialect.database);
      // For the schema alone: an insert asks the function first.
      if (inDatabase !== undefined) builder.default(sql.raw(inDatabase));
    }
    for (const call of this.calls) call(builder);
    return builder;
  }

  private keysOf(table: Table): Keys {
    return new Keys(`${getTableName(table)}.${this.name || this.key}`, this.options);
  }
}

type CustomType = (mapping: {
  dataType(): string;
  toDriver(value: unknown): unknown;
  fromDriver(value: unknown): unknown;
  /** How a relation selects the column. Drizzle 0.45 does not ask: there a relation is read as JSON, which rounds IDs. */
  forJsonSelect(column: SQL, ofDrizzle: typeof sql): SQL;
}) => (name: string) => DrizzleBuilder;

/** The parts of a table's column in one database. */
interface Dialect {
  readonly database: Database;
  readonly table: typeof PgTable | typeof MySqlTable | typeof SQLiteTable;
  readonly customType: unknown;
  readonly Ids: new (keys: Keys) => GeneratedIds;
  dataType(as?: IdProperty): string;
  /** The ID as a text, which keeps its digits in JSON; undefined where the column is a text, or holds exact numbers. */
  inJson?(column: SQL, ofDrizzle: typeof sql): SQL;
}

/** The IDs of a column that is filled. */
interface GeneratedIds {
  /** Returns the value of a row that has none, while the statement is built. */
  make(): unknown;
  /** Returns a value as the driver gets it, or a parameter in its place. */
  bind(value: unknown): unknown;
}

/** A statement is built once and may be executed often: the value of a row makes an ID at each execution. */
class IdsAtExecution implements GeneratedIds {
  /** A symbol, because Drizzle inspects an object thoroughly, for every row. */
  private readonly marker = Symbol('a new ID');
  private readonly id: ParamAtExecution;

  constructor(private readonly keys: Keys) {
    this.id = new ParamAtExecution(keys, () => bindId(keys, keys.next()));
  }

  make(): symbol {
    return this.marker;
  }

  bind(value: unknown): unknown {
    return value === this.marker ? this.id : bindId(this.keys, value);
  }
}

/**
 * MySQL gives nothing back of an inserted row: `$returningId()` returns what was made while the statement was built, so
 * that has to be the ID itself. The statement writes these IDs at its first execution and refuses a second one.
 */
class IdsForOneExecution implements GeneratedIds {
  /** Drizzle makes the IDs of all rows of a statement, then it binds them. The parameter of the last row refuses a second execution. */
  private last: IdValue | undefined;

  constructor(private readonly keys: Keys) {}

  make(): IdValue {
    return (this.last = this.keys.next());
  }

  bind(value: unknown): unknown {
    const { keys } = this;
    const bound = bindId(keys, value);
    if (value !== this.last) return bound;
    this.last = undefined;
    let isExecuted = false;
    return new ParamAtExecution(keys, () => {
      if (isExecuted) throw new InsertRefusedError(keys.place, 'prepared', EXECUTED_BEFORE);
      isExecuted = true;
      return bound;
    });
  }
}

const EXECUTED_BEFORE =
  'cannot get another ID: this prepared insert was executed before, and on MySQL it holds one ID. Build the insert ' +
  "for each row, or pass the ID: values({ id: sql.placeholder('id') }), execute({ id: ids.nextString() }).";

/**
 * A parameter whose value Drizzle asks for at each execution. Drizzle calls the encoder of a placeholder only where the
 * values of the execution have its name. Every object has a `constructor`, so this name is always found. The encoder
 * ignores the value. `db.batch` hands the parameter itself over to the driver, and drivers write objects as JSON or text.
 */
class ParamAtExecution {
  /** Drizzle knows its classes by this name, whichever copy of it they come from. */
  static readonly [entityKind] = 'Param';
  readonly value = sql.placeholder('constructor');
  readonly encoder: { mapToDriverValue(): unknown };

  constructor(
    private readonly keys: Keys,
    value: () => unknown,
  ) {
    this.encoder = { mapToDriverValue: value };
  }

  toJSON(): never {
    throw new InsertRefusedError(this.keys.place, 'unfilled', UNFILLED);
  }

  toString(): never {
    return this.toJSON();
  }
}
// Drizzle walks up the prototypes of a class to find its name, several times for every row. This ends the walk.
Object.setPrototypeOf(ParamAtExecution, null);

const UNFILLED =
  'got no ID: db.batch() and toSQL() leave out the step that makes it. Use a transaction, or pass the ID: ' +
  'values({ id: ids.nextString() }).';

const DIALECTS: readonly Dialect[] = [
  {
    database: 'postgres',
    table: PgTable,
    customType: pgType,
    dataType: () => 'bigint',
    Ids: IdsAtExecution,
    inJson: (column, ofDrizzle) => ofDrizzle`cast(${column} as text)`,
  },
  {
    database: 'mysql',
    table: MySqlTable,
    customType: mysqlType,
    dataType: () => 'bigint',
    Ids: IdsForOneExecution,
    inJson: (column, ofDrizzle) => ofDrizzle`cast(${column} as char)`,
  },
  {
    database: 'sqlite',
    table: SQLiteTable,
    customType: sqliteType,
    dataType: (as) => (as === 'number' ? 'bigint' : 'text'),
    Ids: IdsAtExecution,
  },
];

/** @throws InvalidIdError for what is no ID: mysql2 writes an object as SQL, and `insert ignore` null as 0 */
function bindId({ form, place }: Keys, value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number') {
    return form.write(value, place);
  }
  throw new InvalidIdError('id', value, 'a text, a bigint or a number', place);
}

/** @throws UnsafeSnowflakeError for a number that has lost digits, and for what is no ID, such as JSON */
function readId({ form, place }: Keys, value: unknown): unknown {
  if (typeof value === 'string' ? /^-?\d+$/.test(value) : typeof value === 'bigint' || Number.isSafeInteger(value)) {
    return form.read(value, place);
  }
  const given = typeof value === 'string' || typeof value === 'number' ? value : inspect(value);
  throw new UnsafeSnowflakeError(place, given, 'database', WAY_OUT);
}

const WAY_OUT =
  'A relation that `with` loads comes as JSON, whose numbers lose digits. Let pg keep them, ' +
  'pg.types.setTypeParser(pg.types.builtins.JSON, exactJson) with exactJson of @raindrop/orm/drizzle, or join. ' +
  'Let mysql2 deliver exact integers: supportBigNumbers: true.';

/** A column that holds IDs. */
interface IdsColumn {
  readonly isGenerated: boolean;
  readonly keys: Keys;
}

/** The columns of this file, by the columns that Drizzle has built of them. */
export const COLUMNS = new WeakMap<object, IdsColumn>();

/** Registered, so that a second copy of this package knows the columns. */
const IDS = Symbol.for('@raindrop/orm:ids-column');

/** What a column holds, also where it is that of an alias, a subquery or a `with`: Drizzle puts proxies there. */
export function idsOf(column: object): IdsColumn | undefined {
  return (column as { readonly [IDS]?: IdsColumn })[IDS];
}
