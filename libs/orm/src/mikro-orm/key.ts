/** The key of an entity: its property, the conversion between property and column, and which of its IDs are new. */

import { ConfigurationError } from '@raindrop/core';
import * as core from '@mikro-orm/core';
import { helper, type Platform, Type, Utils } from '@mikro-orm/core';
import { callOf } from '@raindrop/node/internal';
import { type KeyOptions, Keys } from '../ids.js';
import { type Database, DATABASES } from '../databases.js';

/** The type of the property: a string, unless the option `as` names another. */
type KeyValue<Options extends KeyOptions> = Options extends { readonly as: 'bigint' }
  ? bigint
  : Options extends { readonly as: 'number' }
    ? number
    : string;

/** Decorates a property of that type, with TypeScript's experimental decorators or with standard ones. */
export interface SnowflakeKeyDecorator<Value> {
  /** With `experimentalDecorators`. */
  <Name extends string>(target: { [name in Name]: Value }, property: Name): void;
  /** Without. */
  (value: undefined, context: ClassFieldDecoratorContext<object, Value>): void;
}

/** A property of `defineEntity()` that is the primary key. */
export interface SnowflakeKeyProperty<Value> {
  /** For the types of MikroORM. */
  '~type'?: { value: Value };
  /** For `defineEntity()`. */
  '~options': {
    primary: true;
    /** Gives a new entity its ID. */
    onCreate: () => Value;
  };
}

/**
 * Makes the property the primary key. A new entity gets its ID in `em.create()` with MikroORM 7, and in `flush()` with 6. A
 * key that the application has set stays. The column is a `bigint`, on SQLite a text.
 *
 * Set `entityManager: withSnowflakes(EntityManager)` too: it gives IDs to inserts without entities.
 * @example `@SnowflakePrimaryKey() id!: string;`
 * @throws ConfigurationError for options that cannot work
 */
export function SnowflakePrimaryKey<const Options extends KeyOptions = object>(
  options?: Options,
): SnowflakeKeyDecorator<KeyValue<Options>> {
  return (target: object | undefined, at: string | ClassFieldDecoratorContext) => {
    const place = typeof at === 'string' ? `${target!.constructor.name}.${at}` : String(at.name);
    const decorate = primaryKeyDecorator(typeof at === 'string')(propertyOptions(place, options));
    decorate(target, at);
  };
}

/**
 * The primary key as {@link SnowflakePrimaryKey}, for `defineEntity()`.
 * @example `defineEntity({ name: 'Order', properties: { id: snowflakeKey(), customer: p.string() } })`
 * @throws ConfigurationError for options that cannot work
 */
export function snowflakeKey<const Options extends KeyOptions = object>(
  options?: Options,
): SnowflakeKeyProperty<KeyValue<Options>> {
  return { '~options': propertyOptions('snowflakeKey()', options) } as unknown as SnowflakeKeyProperty<
    KeyValue<Options>
  >;
}

function isVersion6(): boolean {
  return 'PrimaryKey' in core;
}

type Decorate = (target: unknown, at: unknown) => void;
type PrimaryKey = (options: object) => Decorate;

/** MikroORM's own decorator. Version 6 has it in its core, 7 in a package with an entry for each kind of decorator. */
function primaryKeyDecorator(legacy: boolean): PrimaryKey {
  if (isVersion6()) return (core as unknown as { PrimaryKey: PrimaryKey }).PrimaryKey;
  /* eslint-disable @typescript-eslint/no-require-imports -- an application without decorators does not have the package. */
  const found = legacy
    ? (require('@mikro-orm/decorators/legacy') as unknown)
    : (require('@mikro-orm/decorators/es') as unknown);
  /* eslint-enable @typescript-eslint/no-require-imports */
  return (found as { PrimaryKey: PrimaryKey }).PrimaryKey;
}

/** Without `autoincrement: false` the schema generator makes a `bigserial`, and inserts that bypass us get 1, 2, 3. */
function propertyOptions(place: string, options: KeyOptions | undefined): object {
  const keys = new Keys(place, options);
  if (isVersion6() && options?.prefix !== undefined) {
    const message = 'needs MikroORM 7: the cursors of 6 compare the text of a typed ID with the number in the database';
    throw new ConfigurationError([{ option: `${place}: prefix`, given: JSON.stringify(options.prefix), message }]);
  }
  // Only `em.getKysely()` calls it without an entity. It writes the value as it is, unless `convertValues` is set.
  const onCreate = (entity?: object): unknown =>
    entity === undefined ? keys.form.write(keys.next(), place) : made(keys.next(), entity);
  const type = new SnowflakeType(keys, options?.as ?? 'string');
  const { databaseDefault } = keys;
  const declared = databaseDefault === undefined ? {} : { defaultRaw: callOf(databaseDefault) };
  return { ...declared, primary: true, autoincrement: false, type, onCreate };
}

/**
 * Where the helper that MikroORM attaches to an entity keeps the key that was made for it. A key that the application has
 * chosen is not there. A WeakMap of all entities cost more than their IDs, by its garbage collection.
 */
const MADE = Symbol('made');

type Helper = { [MADE]?: unknown; readonly __originalEntityData?: unknown } | undefined;

function helperOf(entity: object): Helper {
  return helper(entity);
}

/** Remembers the ID in the entity's helper. Plain data has no helper, and needs none: it is written once. */
function made<Id>(id: Id, entity: object): Id {
  const attached = helperOf(entity);
  if (attached !== undefined) attached[MADE] = id;
  return id;
}

const BRAND = Symbol.for('@raindrop/orm:mikro-orm-key');

/** Converts between property and column. It refuses digits that the driver has rounded. */
class SnowflakeType extends Type<unknown, unknown> {
  readonly [BRAND] = true;

  constructor(
    readonly keys: Keys,
    private readonly as: 'string' | 'bigint' | 'number',
  ) {
    super();
  }

  override convertToDatabaseValue(value: unknown): unknown {
    return this.keys.form.compare(value, this.keys.place);
  }

  override convertToJSValue(value: unknown): unknown {
    return this.keys.form.read(value, this.keys.place);
  }

  /** In SQLite an `integer primary key` is the row id, and inserts that bypass us would get the next one. */
  override getColumnType(prop: core.EntityProperty, platform: Platform): string {
    const isText = DATABASES[databaseOf(platform)].fillsIntegerKeys && this.as !== 'number';
    if (isText) return platform.getTextTypeDeclarationSQL(prop);
    return platform.getBigIntTypeDeclarationSQL(prop);
  }

  override compareAsType(): string {
    return 'string';
  }

  override get runtimeType(): string {
    return this.as;
  }

  override toJSON(value: unknown): unknown {
    return typeof value === 'bigint' ? String(value) : value;
  }

  /** For cursors. */
  override fromJSON(value: unknown): unknown {
    return this.convertToJSValue(value);
  }
}

/** The database, by what it calls the smallest integer: a minifier shortens the names of MikroORM's classes. */
export function databaseOf(platform: Platform): Database {
  const type = platform.getTinyIntTypeDeclarationSQL({});
  return type === 'integer' ? 'sqlite' : type === 'smallint' ? 'postgres' : 'mysql';
}

/** An entity, or data of one. */
export type Row = Record<string, unknown>;

/** A primary key of ours, as MikroORM's metadata describes it. */
export interface Key {
  /** `table.property`. */
  readonly place: string;
  readonly name: string;
  readonly fieldNames: readonly string[];
  readonly columnTypes?: readonly string[];
  readonly customType: SnowflakeType;
}

interface Relation {
  readonly kind: string;
  readonly primary?: boolean;
  readonly persist?: boolean;
  readonly pivotEntity?: unknown;
  readonly targetMeta?: Meta;
  /** Of a relation to one of several entities. */
  readonly polymorphTargets?: readonly Meta[];
}

export interface Meta {
  /** Version 7 names entities by it, 6 by their names. */
  readonly class?: unknown;
  readonly className: string;
  readonly tableName: string;
  readonly schema?: string;
  readonly primaryKeys?: readonly string[];
  readonly properties: Record<string, Omit<Key, 'place'> & Relation>;
}

export function keysOf(meta: Meta | undefined): Key[] {
  return (meta?.primaryKeys ?? []).flatMap((name) => {
    const prop = meta!.properties[name]!;
    const isOurs = prop.kind === 'scalar' && (prop.customType as object | undefined) && BRAND in prop.customType;
    return isOurs ? [{ ...prop, place: `${meta!.tableName}.${name}` }] : [];
  });
}

/** Whether the row has no key, or one that was made for it and is not in the database yet. */
export function isMade(key: Key, row: Row): boolean {
  const id = row[key.name];
  if (id == null) return true;
  const attached = helperOf(row);
  return attached?.[MADE] === id && attached.__originalEntityData === undefined;
}

/** Whether the row has no key, by its property or by its column. */
export function lacks({ name, fieldNames }: Key, row: Row): boolean {
  return row[name] == null && fieldNames.every((column) => row[column] == null);
}

/**
 * Returns the rows with these IDs where they have none: entities get them themselves, plain data stays as the caller has
 * it. Node 20 gives every object of `{ ...row, [name]: id }` a hidden class of its own, and the ORM then reads 1,000 rows
 * in three times the time.
 */
export function withIds(key: Key, rows: readonly Row[], ids: readonly unknown[]): Row[] {
  let at = 0;
  return rows.map((row) => {
    if (!lacks(key, row)) return row;
    const id = ids[at++];
    if (!(Utils.isEntity as (row: Row) => boolean)(row)) return Object.assign({}, row, { [key.name]: id });
    row[key.name] = made(id, row);
    return row;
  });
}
