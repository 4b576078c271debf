import 'reflect-metadata';
import { isDeepStrictEqual } from 'node:util';
import { Column, type ColumnOptions, type EntitySchemaColumnOptions, getMetadataArgsStorage } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';
import {
  boolean,
  type IdProperty,
  option,
  OptionReader,
  type OptionsOf,
  readIdPrefix,
  readOptions,
  text,
} from '@raindrop/core/internal';
import { type IdFunction, readDatabaseDefault, requireSupported } from '@raindrop/node/internal';
import { guardBuilders } from './built-inserts.js';
import { classesOf, guardDefaults } from './database-defaults.js';
import { guardSynchronize } from './guard-synchronize.js';
import { UnsupportedColumnError } from './snowflake-errors.js';
import { markOf, SnowflakeTransformer } from './snowflake-transformer.js';

requireSupported('reflect-metadata', () => __filename);

/**
 * Declares a column, by default the primary key, that gets an ID on every insert: `save` of an instance, a plain object
 * or an array, cascades, `insert`, `insert().values()`, `upsert`. Always a `bigint` column that no update writes. An ID
 * that is set already stays; null and 0 count as not set.
 *
 *     @Entity() class Order { @GeneratedSnowflake() id!: string; }
 *
 * The ID is set before other subscribers' `beforeInsert`, except in a `save` for which the service has to wait. Ways of
 * inserting that call no subscribers, and statements that list their columns without this one, fail with
 * `SnowflakeNotAssignedError`. An upsert leaves an existing row its ID; the object that met the row carries an ID that is
 * not in the database then: look the row up.
 *
 * A class may declare the key of its parent anew, with options of its own.
 *
 * @throws UnsupportedColumnError for options that cannot work, where another column decorator stands below this one, in
 * single-table inheritance for a column that a parent declares with other options, and where the compiler's option
 * `experimentalDecorators` is not set
 */
export function GeneratedSnowflake(options: GeneratedSnowflakeOptions = {}): PropertyDecorator {
  return (target, property) => {
    refuseStandardDecorator(target, property);
    const place = `${target.constructor.name}.${String(property)}`;
    refuseSecondColumn(target, property, place);
    const declared = declaredProperty(target, property, place);
    const isTypeLost = !Reflect.hasMetadata('design:type', target, property);
    const placeLater = (): string => `${tableNameOf(target.constructor)}.${String(property)}`;
    Column(snowflakeColumnOptions(options, place, declared, isTypeLost, placeLater))(target, property);
    preferToInherited(target, property, place);
  };
}

/** Without `experimentalDecorators` a decorator of a property gets `undefined` and a context: TypeORM fails on them. */
function refuseStandardDecorator(target: object | undefined, property: unknown): void {
  if (target !== undefined) return;
  const { name } = property as ClassFieldDecoratorContext;
  throw new UnsupportedColumnError(
    String(name),
    'the compiler has not set experimentalDecorators, which TypeORM and Nest require. Set "experimentalDecorators" and ' +
      '"emitDecoratorMetadata" to true in compilerOptions of tsconfig.json',
  );
}

/** The name that `@Entity()` gives the table; without one, that of the class, of which TypeORM makes the table's. */
function tableNameOf(entity: object & { readonly name: string }): string {
  return getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name ?? entity.name;
}

/** With two column decorators, TypeORM silently uses the first one that runs, which is the lower one. */
function refuseSecondColumn(target: object, property: string | symbol, place: string): void {
  const { columns } = getMetadataArgsStorage();
  if (!columns.some((each) => each.target === target.constructor && each.propertyName === property)) return;
  throw new UnsupportedColumnError(
    place,
    'another column decorator is below it, and TypeORM would use that one. Remove it: @GeneratedSnowflake() declares ' +
      'the column and the primary key itself',
  );
}

/**
 * Puts the declaration, which is the last one, before those of the same property in classes that this one extends: TypeORM
 * uses the first that it finds. The other children of these classes keep theirs.
 */
function preferToInherited(target: object, property: string | symbol, place: string): void {
  const { columns, inheritances } = getMetadataArgsStorage();
  const [, ...parents] = classesOf(target.constructor);
  const first = columns.findIndex((each) => parents.includes(each.target) && each.propertyName === property);
  if (first < 0) return;
  if (!inheritances.some((each) => parents.includes(each.target))) return void columns.splice(first, 0, columns.pop()!);
  const inherited = columns[first]!;
  if (isDeepStrictEqual(comparable(columns.at(-1)!.options), comparable(inherited.options))) return;
  throw new UnsupportedColumnError(
    place,
    `${(inherited.target as { name: string }).name} declares it with other options, and in single-table inheritance ` +
      'TypeORM uses these for all rows of the table. Remove one of the two declarations',
  );
}

/** The options of a column, and those of ours without the place. */
function comparable({ transformer, ...options }: ColumnOptions): object {
  return { ...options, transformer: { ...(markOf(transformer) ?? transformer), place: undefined } };
}

/** The type that the compiler emitted for the property; undefined for unions, aliases of brands and `any`. */
function declaredProperty(target: object, property: string | symbol, place: string): IdProperty | undefined {
  const type: unknown = Reflect.getMetadata('design:type', target, property);
  if (type === String) return 'string';
  if (type === Number) return 'number';
  if (type === BigInt) return 'bigint';
  if (type === undefined || type === Object) return undefined;
  const name = typeof type === 'function' ? type.name : typeof type;
  throw new UnsupportedColumnError(place, `the property is a ${name}; it must be a string, a number or a bigint`);
}

/** TypeORM's column options that the application may set; type, update and transformer are set here. */
const COLUMN_OPTIONS = [
  'name',
  'comment',
  'nullable',
  'unique',
  'select',
  'unsigned',
  'primaryKeyConstraintName',
] as const;

type FreeOptions = Pick<ColumnOptions, (typeof COLUMN_OPTIONS)[number]>;

const PROPERTIES: readonly unknown[] = ['string', 'number', 'bigint'] satisfies IdProperty[];

/** Which IDs a column gets, and in which form. */
export const generatedSnowflakeOptions = {
  /** Whether the column is (part of) the primary key. @range true, false @defaultValue true */
  primary: boolean({ default: true }),
  /**
   * The type of the property's values.
   * @range `string`, `number`, `bigint` @defaultValue for the decorator the property's type, else `string`
   */
  as: option<IdProperty, IdProperty, Declared>(readProperty),
  /** The name of the service that issues the IDs. @range 1-128 characters @defaultValue `default` */
  service: text({ pattern: /^[^]{1,128}$/, legal: 'the name of a service', default: 'default' }),
  /** The business kind of the IDs, with a sequence of its own. @range 1-128 characters @defaultValue none */
  code: text({ pattern: /^[^]{1,128}$/, legal: 'a string of 1 to 128 characters' }),
  /**
   * Shows the ID as text that says what it identifies: `prefix: 'order'` gives `order_0Cc4kqJ3WmY` in code and JSON, and
   * texts with another prefix are refused. The database keeps the bigint. Strings only.
   * @range 1-31 of a-z, 0-9 and `_` @defaultValue none
   */
  prefix: option<string, string | undefined, { readonly as: IdProperty }>(readIdPrefix),
  /**
   * Declares `DEFAULT raindrop_id()`, for `synchronize` and migrations: PostgreSQL issues the IDs of rows that no
   * application inserts. Every insert of an entity gets its ID in the process as before. A text names another function,
   * such as `shop.next_id`. Other databases are refused when the DataSource is initialised.
   * @range true, false, the name of a function @defaultValue false
   */
  databaseDefault: option<boolean | string, IdFunction | undefined>(readDatabaseDefault),
};

/** The options say which IDs a column gets, and in which form; all others are TypeORM's. */
export interface GeneratedSnowflakeOptions extends FreeOptions, OptionsOf<typeof generatedSnowflakeOptions> {}

interface Declared {
  /** The property's declared type, if known. */
  readonly declared: IdProperty | undefined;
}

function readProperty(reader: OptionReader, name: string, { declared }: Declared): IdProperty {
  const as = reader.value(name) ?? declared ?? 'string';
  if (!PROPERTIES.includes(as)) reader.problem(name, as, `must be 'string', 'number' or 'bigint'`);
  else if (declared !== undefined && as !== declared) {
    reader.problem(name, as, `is '${as as IdProperty}', but the property is a ${declared}`);
  }
  return as as IdProperty;
}

/**
 * Checks the options and answers with TypeORM's.
 * @param place `Entity.property`, for messages
 * @param declared what the property's declared type says, if anything
 * @param isTypeLost whether that could not be found out
 * @param placeLater `table.property`, once the classes have been declared
 * @throws UnsupportedColumnError with every problem
 */
function snowflakeColumnOptions(
  options: GeneratedSnowflakeOptions,
  place: string,
  declared?: IdProperty,
  isTypeLost = false,
  placeLater = (): string => place,
): FreeOptions & { type: 'bigint'; primary: boolean; update: false; transformer: SnowflakeTransformer } {
  guardSynchronize();
  guardDefaults();
  guardBuilders();
  const reader = new OptionReader(options);
  const { primary, ...form } = readOptions(reader, generatedSnowflakeOptions, { declared });
  const column = Object.fromEntries(
    COLUMN_OPTIONS.map((name) => [name, reader.value(name)]).filter(([, value]) => value !== undefined),
  ) as FreeOptions;
  if (primary && column.nullable)
    reader.problem('nullable', true, 'is not for a primary key, which cannot be nullable');
  finish(reader, place);

  const isLost = isTypeLost && options.as === undefined && form.prefix === undefined;
  const transformer = new SnowflakeTransformer({ place: placeLater, ...form, ...(isLost && { isTypeLost: true }) });
  return { ...column, primary, type: 'bigint', update: false, transformer };
}

/** @throws UnsupportedColumnError with every problem */
function finish(reader: OptionReader, place: string): void {
  try {
    reader.finish();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problems = error.problems.map(({ option, message }) => `${option} ${message}`);
    throw new UnsupportedColumnError(place, problems.join('; '));
  }
}

/**
 * Does what `@GeneratedSnowflake()` does, for an `EntitySchema`. The property is a string unless `as` says otherwise.
 *
 *     new EntitySchema({ name: 'order', columns: { id: snowflakeColumn() } })
 *
 * @throws UnsupportedColumnError for options that cannot work
 */
export function snowflakeColumn(options: GeneratedSnowflakeOptions = {}): EntitySchemaColumnOptions {
  return snowflakeColumnOptions(options, 'A column of an EntitySchema');
}
