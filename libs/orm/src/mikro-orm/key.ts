/** The key of an entity: the property, how it shows the ID that the database keeps, and which of its IDs are new. */

import { ConfigurationError } from '@raindrop/core';
import * as core from '@mikro-orm/core';
import { helper, type Platform, Type, Utils } from '@mikro-orm/core';
import { type KeyOptions, Keys } from '../ids.js';

/** What a property holds by its options: text, unless `as` says otherwise. */
type KeyValue<Options extends KeyOptions> = Options extends { readonly as: 'bigint' }
  ? bigint
  : Options extends { readonly as: 'number' }
    ? number
    : string;

/** Decorates a property whose type is the form of the ID, as TypeScript's own or as a standard decorator. */
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
 * The property is the primary key, and a new entity gets an ID for it: in MikroORM 7 when `em.create()` makes it, in 6
 * when it is flushed. A key that the application sets stays. The column is a `bigint`, on SQLite a text.
 *
 * `entityManager: withSnowflakes(EntityManager)` belongs to it, for inserts that go past entities.
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

/** MikroORM's own decorator: version 6 has it in its core, 7 in a package, once for each kind of decorators. */
function primaryKeyDecorator(legacy: boolean): PrimaryKey {
  if (isVersion6()) return (core as unknown as { PrimaryKey: PrimaryKey }).PrimaryKey;
  /* eslint-disable @typescript-eslint/no-require-imports -- an application without decorators has not the package. */
  const found = legacy
    ? (require('@mikro-orm/decorators/legacy') as unknown)
    : (require('@mikro-orm/decorators/es') as unknown);
  /* eslint-enable @typescript-eslint/no-require-imports */
  return (found as { PrimaryKey: PrimaryKey }).PrimaryKey;
}

/** Without `autoincrement: false` the schema generator makes a `bigserial`, and skipped inserts get 1, 2, 3. */
function propertyOptions(place: string, options: KeyOptions | undefined): object {
  const keys = new Keys(place, options);
  if (isVersion6() && options?.prefix !== undefined) {
    const message = 'needs MikroORM 7: the cursors of 6 compare the text of a typed ID with the number in the database';
    throw new ConfigurationError([{ option: `${place}: prefix`, given: JSON.stringify(options.prefix), message }]);
  }
  // `em.getKysely()` alone has no entity: it writes what it is given, unless it was told to convert.
  const onCreate = (entity?: object): unknown =>
    entity === undefined ? keys.form.write(keys.next(), place) : made(keys.next(), entity);
  return { primary: true, autoincrement: false, type: new SnowflakeType(keys, options?.as ?? 'string'), onCreate };
}

/**
 * Where MikroORM's companion of an entity has the key that was made for it: no key that the application has chosen. A
 * WeakMap of all entities took longer than their IDs, by its collection.
 */
const MADE = Symbol('made');

type Companion = { [MADE]?: unknown; readonly __originalEntityData?: unknown } | undefined;

function companionOf(entity: object): Companion {
  return helper(entity);
}

/** Plain data has no companion, and is looked at once. */
function made<Id>(id: Id, entity: object): Id {
  const companion = companionOf(entity);
  if (companion !== undefined) companion[MADE] = id;
  return id;
}

const BRAND = Symbol.for('@raindrop/orm:mikro-orm-key');

/** How the property shows the ID that the database keeps. Digits that a driver has rounded are refused when read. */
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

  /** SQLite would take `integer primary key` for its row id, and give skipped inserts the next one. */
  override getColumnType(prop: core.EntityProperty, platform: Platform): string {
    if (isSqlite(platform) && this.as !== 'number') return platform.getTextTypeDeclarationSQL(prop);
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

  /** Of a cursor. */
  override fromJSON(value: unknown): unknown {
    return this.convertToJSValue(value);
  }
}

/** Whether the ORM keeps the keys in SQLite or libSQL. */
export function isSqlite(platform: object): boolean {
  return /sqlite|libsql/i.test(platform.constructor.name);
}

/** An entity, or data of one. */
export type Row = Record<string, unknown>;

/** A property that is a primary key of ours, as the metadata has it. */
export interface Key {
  /** `Entity.property`. */
  readonly place: string;
  readonly name: string;
  readonly fieldNames: readonly string[];
  readonly columnTypes?: readonly string[];
  readonly customType: SnowflakeType;
}

export interface Meta {
  readonly className: string;
  readonly tableName: string;
  readonly primaryKeys?: readonly string[];
  readonly properties: Record<string, Omit<Key, 'place'> & { readonly kind: string }>;
}

export function keysOf(meta: Meta | undefined): Key[] {
  return (meta?.primaryKeys ?? []).flatMap((name) => {
    const prop = meta!.properties[name]!;
    const isOurs = prop.kind === 'scalar' && (prop.customType as object | undefined) && BRAND in prop.customType;
    return isOurs ? [{ ...prop, place: `${meta!.className}.${name}` }] : [];
  });
}

/** Whether the row has no key, or one that no row in the database has yet. */
export function isMade(key: Key, row: Row): boolean {
  const id = row[key.name];
  if (id == null) return true;
  const companion = companionOf(row);
  return companion?.[MADE] === id && companion.__originalEntityData === undefined;
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
