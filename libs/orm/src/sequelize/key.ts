/** The attribute of a key: its column, how the application sees the ID that the database keeps, and where new ones come from. */

import { ConfigurationError, InvalidIdError } from '@raindrop/core';
import { literal, type ModelAttributeColumnOptions } from 'sequelize';
import { DATABASES } from '../databases.js';
import { type KeyOptions, Keys } from '../ids.js';
import { dialectNamed } from './dialects.js';

/** An attribute of a model, for `Model.init()`, `sequelize.define()` and `@Column()`. */
export type SnowflakeAttribute = Pick<
  ModelAttributeColumnOptions,
  'type' | 'allowNull' | 'primaryKey' | 'defaultValue'
>;

/**
 * Declares the primary key. A new instance has an ID as soon as it is built; one that the application sets stays. The
 * column is a `bigint`, on SQLite a text. A key that is not the primary one is `{ ...snowflakeKey(), primaryKey: false }`.
 *
 * `new Sequelize(withSnowflakes(options))` belongs to it.
 * @example `Order.init({ id: snowflakeKey(), customer: DataTypes.STRING }, { sequelize })`
 * @example `@Column(snowflakeKey()) declare id: CreationOptional<string>;`
 * @throws ConfigurationError for options that cannot work
 */
export function snowflakeKey(options?: KeyOptions): SnowflakeAttribute {
  const type = new SnowflakeType('snowflakeKey()', options) as never;
  return { type, allowNull: false, primaryKey: true, defaultValue: newId };
}

/**
 * Declares an attribute that holds the ID of another row, such as a foreign key. Nothing fills it. Its options are those
 * of the key to which it refers.
 * @example `OrderLine.init({ id: snowflakeKey(), orderId: snowflakeReference() }, { sequelize })`
 * @throws ConfigurationError for options that cannot work
 */
export function snowflakeReference(options?: Pick<KeyOptions, 'as' | 'prefix'>): SnowflakeAttribute {
  return { type: new SnowflakeType('snowflakeReference()', options) as never };
}

/** In place of an ID until an instance takes it: Sequelize asks for defaults also where the value is given. */
const NEW_ID = Symbol('a new ID');

function newId(): symbol {
  return NEW_ID;
}

interface StringifyOptions {
  readonly field?: { readonly fieldName?: string; readonly Model?: { readonly tableName: string } };
}

/** The type of the column. Sequelize's own classes of types are proxies, which cannot be extended. */
export class SnowflakeType {
  readonly key = 'SNOWFLAKE_ID';
  /** Sequelize asks it. */
  readonly escape: boolean;
  readonly keys: Keys;

  constructor(
    /** `table.attribute`, for messages. */
    place: string,
    private readonly options: KeyOptions | undefined,
    private readonly dialect?: string,
  ) {
    this.keys = new Keys(place, options);
    this.escape = dialectNamed(dialect).quotesIds;
  }

  /** The type in a model: {@link withSnowflakes} tells it where it is. */
  in(dialect: string, place: string): SnowflakeType {
    return new SnowflakeType(place, this.options, dialect);
  }

  /** Called as a mere function, with what an attribute is set to. */
  readonly _sanitize = (value: unknown): unknown => {
    if (value !== NEW_ID) return value;
    this.assertPlaced();
    return this.keys.next();
  };

  toSql(): string {
    this.assertPlaced();
    if (!DATABASES[dialectNamed(this.dialect).database].fillsIntegerKeys) return 'BIGINT';
    // Sequelize makes `INTEGER PRIMARY KEY` of a type with INT in its name: SQLite fills that with row numbers.
    return this.options?.as === 'number' ? 'NUMERIC' : 'TEXT';
  }

  toString(): string {
    return this.toSql();
  }

  /** @throws InvalidIdError for what is no ID: on MySQL it would become a part of the SQL */
  stringify(value: unknown, options: StringifyOptions = {}): unknown {
    const isList = dialectNamed(this.dialect).listsNumbers && Array.isArray(value);
    return isList ? value.map((each) => BigInt(this.digitsOf(each, options))) : this.digitsOf(value, options);
  }

  private digitsOf(value: unknown, { field }: StringifyOptions): string {
    const place = field?.Model === undefined ? this.keys.place : `${field.Model.tableName}.${field.fieldName}`;
    if (isId(value)) return this.keys.form.compare(value, place) as string;
    throw new InvalidIdError('id', value, 'a text, a bigint or a number', place);
  }

  bindParam(value: unknown, options: StringifyOptions & { bindParam(value: unknown): unknown }): unknown {
    return options.bindParam(this.digitsOf(value, options));
  }

  /** Returns the default of the column, for statements that make it. */
  get inDatabase(): string | undefined {
    return this.keys.defaultOn(dialectNamed(this.dialect).database);
  }

  private assertPlaced(): void {
    if (this.dialect !== undefined) return void this.inDatabase;
    const message =
      'needs a model, and Sequelize to be made with withSnowflakes(): new Sequelize(withSnowflakes({ ... })). In a ' +
      "migration write { type: 'BIGINT', allowNull: false, primaryKey: true }, on SQLite 'TEXT'";
    throw new ConfigurationError([{ option: this.keys.place, given: 'without it', message }]);
  }
}

export function isId(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

/** An attribute that holds IDs. */
export interface Key {
  /** `table.attribute`. */
  readonly place: string;
  readonly name: string;
  /** The column. */
  readonly field: string;
  readonly type: SnowflakeType;
  /** Whether it gets them. Foreign keys have the same type. */
  readonly isFilled: boolean;
}

/** What this package uses of an attribute in a model. */
export interface Attribute {
  readonly field?: string;
  readonly fieldName?: string;
  readonly type: unknown;
  readonly defaultValue?: unknown;
  readonly autoIncrement?: boolean;
}

/** The attributes of a model. Sequelize makes another object of them whenever they change. */
type Attributes = Readonly<Record<string, Attribute>>;

const known = new WeakMap<Attributes, readonly Key[]>();

/** The attributes of a model that hold IDs. It is asked for every instance. */
export function idsOf({
  tableName,
  tableAttributes,
}: {
  readonly tableName: string;
  tableAttributes: Attributes;
}): readonly Key[] {
  const before = known.get(tableAttributes);
  if (before !== undefined) return before;
  const found = Object.entries(tableAttributes).flatMap(([attribute, { type, defaultValue, field }]) => {
    const place = `${tableName}.${attribute}`;
    const isFilled = defaultValue === newId;
    return type instanceof SnowflakeType ? [{ place, name: attribute, field: field ?? attribute, type, isFilled }] : [];
  });
  known.set(tableAttributes, found);
  return found;
}

/**
 * An attribute as the statement that makes its column has it. A default in SQL would go into every insert of the model,
 * so the model does not have it.
 */
export function inSchema<Given>(attribute: Given): Given {
  // A migration may name the type alone.
  const { type, defaultValue } = (attribute ?? {}) as Partial<Attribute>;
  if (!(type instanceof SnowflakeType) || defaultValue !== newId || type.inDatabase === undefined) return attribute;
  return { ...attribute, defaultValue: literal(type.inDatabase) };
}

/** The attributes of a model that get IDs. */
export function keysOf(model: Parameters<typeof idsOf>[0]): Key[] {
  return idsOf(model).filter(({ isFilled }) => isFilled);
}

/** Shows the IDs of a row as the application sees them. */
export function show(ids: readonly Key[], row: Record<string, unknown>, by: 'name' | 'field' = 'name'): void {
  for (const { place, type, [by]: name } of ids) {
    if (row[name] != null) row[name] = type.keys.form.read(row[name], place);
  }
}
