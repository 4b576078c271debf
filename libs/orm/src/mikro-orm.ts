/**
 * IDs as the primary keys of MikroORM's entities, version 6 and 7.
 *
 * @module @raindrop/orm/mikro-orm
 */

import { ConfigurationError } from '@raindrop/core';
import * as core from '@mikro-orm/core';
import { getWhereCondition, helper, type Platform, Type, Utils } from '@mikro-orm/core';
import { InsertRefusedError, type InsertRefusal, type KeyOptions, Keys } from './ids.js';

export { InsertRefusedError, type InsertRefusal, type KeyOptions } from './ids.js';

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

/** The keys that were made for entities, until they are stored: no key that the application has chosen. */
const MADE = new WeakMap<object, unknown>();

/** Without `autoincrement: false` the schema generator makes a `bigserial`, and skipped inserts get 1, 2, 3. */
function propertyOptions(place: string, options: KeyOptions | undefined): object {
  const keys = new Keys(place, options);
  if (isVersion6() && options?.prefix !== undefined) {
    const message = 'needs MikroORM 7: the cursors of 6 compare the text of a typed ID with the number in the database';
    throw new ConfigurationError([{ option: `${place}: prefix`, given: JSON.stringify(options.prefix), message }]);
  }
  const onCreate = (entity?: object): unknown => made(keys.next(), entity);
  return { primary: true, autoincrement: false, type: new SnowflakeType(keys, options?.as ?? 'string'), onCreate };
}

function made<Id>(id: Id, entity: object | undefined): Id {
  if (entity !== undefined) MADE.set(entity, id);
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

  /** Whether the property holds the very text that the database delivers. */
  get isText(): boolean {
    return this.keys.form.isDecimalText;
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

function isSqlite(platform: object): boolean {
  return /sqlite|libsql/i.test(platform.constructor.name);
}

/** A property that is a primary key of ours, as the metadata has it. */
interface Key {
  /** `Entity.property`. */
  readonly place: string;
  readonly name: string;
  readonly fieldNames: readonly string[];
  readonly customType: SnowflakeType;
}

interface Meta {
  readonly className: string;
  readonly tableName: string;
  readonly primaryKeys: readonly string[];
  readonly properties: Record<string, Omit<Key, 'place'> & { readonly kind: string }>;
}

function keyOf(meta: Meta | undefined): Key | undefined {
  for (const name of meta?.primaryKeys ?? []) {
    const prop = meta!.properties[name]!;
    const isOurs = prop.kind === 'scalar' && (prop.customType as object | undefined) && BRAND in prop.customType;
    if (isOurs) return { ...prop, place: `${meta!.className}.${name}` };
  }
  return undefined;
}

/** The primary key as the ORM returns it: several properties are an array. */
function keyValue({ primaryKeys }: Meta, row: Row): unknown {
  return primaryKeys.length === 1 ? row[primaryKeys[0]!] : primaryKeys.map((name) => row[name]);
}

/** The rows with keys: entities get them themselves, plain data stays as the caller has it. */
async function filled(key: Key, rows: readonly Row[]): Promise<Row[]> {
  const { keys } = key.customType;
  const count = rows.filter((row) => row[key.name] == null).length;
  if (count === 0) return [...rows];
  const ids: readonly unknown[] = await keys.takeWaiting(count);
  let at = 0;
  return rows.map((row) => {
    if (row[key.name] != null) return row;
    const id = ids[at++];
    if (!(Utils.isEntity as (row: Row) => boolean)(row)) return { ...row, [key.name]: id };
    row[key.name] = made(id, row);
    return row;
  });
}

/**
 * The options of an upsert as the ORM has to be told them, so that an existing row keeps its key: it is found by what
 * else is unique, and the new key is for the insert alone. Version 6 knows nothing of it, and both take the key that
 * `em.create()` made for one that the application has chosen.
 * @returns undefined when the application has chosen all keys
 */
function upsertOptions(
  meta: Meta,
  key: Key,
  rows: readonly Row[],
  options: UpsertOptions = {},
): UpsertOptions | undefined {
  const without = rows.filter((row) => isMade(key, row));
  if (without.length === 0) return undefined;
  if (without.length < rows.length) {
    throw refused(key, 'key-update', 'is given for some rows of the upsert only', 'Call it once for each kind.');
  }
  if (options.onConflictMergeFields?.includes(key.name)) {
    throw refused(key, 'key-update', 'would be rewritten in an existing row', 'Leave it out of onConflictMergeFields.');
  }
  const unique = uniqueIn(meta, rows[0]!);
  const onConflictFields = options.onConflictFields ?? unique;
  if (onConflictFields === undefined) {
    throw refused(key, 'no-conflict', 'is new, and nothing else in the row of the upsert is unique', ENTITIES);
  }
  if (options.onConflictFields === undefined && rows.some((row) => uniqueIn(meta, row)?.join() !== unique?.join())) {
    throw refused(
      key,
      'no-conflict',
      'is new, and the rows differ in what else is unique',
      'Call it once for each kind.',
    );
  }
  const onConflictExcludeFields = [...(options.onConflictExcludeFields ?? []), key.name];
  return { ...options, onConflictFields, onConflictExcludeFields };
}

/** The unique properties by which an existing row is found, as the ORM chooses them. */
function uniqueIn(meta: Meta, row: Row): readonly string[] | undefined {
  const { where } = getWhereCondition<object>(meta as never, undefined, row, undefined as never);
  return where === undefined ? undefined : Object.keys(where);
}

/**
 * Whether `upsertMany()` would read keys back, which it gives to entities as the database has them, not as the property
 * shows them: where an insert cannot return its rows, or returns none for those that it leaves alone.
 */
function isReadBack(key: Key, platform: Platform, options: UpsertOptions = {}): boolean {
  const isReturned = platform.usesReturningStatement() && options.onConflictAction !== 'ignore';
  return !key.customType.isText && !(isReturned && options.onConflictWhere === undefined);
}

function isMade(key: Key, row: Row): boolean {
  const id = row[key.name];
  if (id == null) return true;
  return MADE.get(row) === id && (helper(row) as { __originalEntityData?: unknown }).__originalEntityData === undefined;
}

const ENTITIES =
  'Insert it by em.create() and flush(), em.insert() or em.insertMany(), or give it the ID: ids.nextId().';

function refused(key: Key, why: InsertRefusal, what: string, wayOut: string): InsertRefusedError {
  return new InsertRefusedError(key.place, why, `${what}. ${wayOut}`);
}

interface QueryBuilder {
  insert(data: Row | readonly Row[]): QueryBuilder;
  insertFrom(source: { state?: { fields?: unknown } }, options?: { columns?: unknown }): QueryBuilder;
  onConflict(fields?: unknown): QueryBuilder;
  merge(data?: unknown): QueryBuilder;
  clone(...args: unknown[]): QueryBuilder;
}

/** Refuses what would insert a row without a key, or give an existing row another one. */
function guarded(qb: QueryBuilder, key: Key, platform: object): QueryBuilder {
  const original = Object.getPrototypeOf(qb) as QueryBuilder;
  const names = [key.name, ...key.fieldNames];
  let conflict: unknown;
  const guards: Partial<QueryBuilder> = {
    insert: (data) => {
      const rows = Array.isArray(data) ? (data as Row[]) : [data as Row];
      if (rows.some((row) => names.every((name) => row[name] == null))) {
        throw refused(key, 'unfilled', 'has no value in the insert of a query builder', ENTITIES);
      }
      return original.insert.call(qb, data);
    },
    insertFrom: (source, options) => {
      const columns = [options?.columns ?? source.state?.fields ?? []].flat();
      if (columns.some((column) => names.includes(column as string)))
        return original.insertFrom.call(qb, source, options);
      throw refused(key, 'select', 'has no value in the rows of a query', ENTITIES);
    },
    onConflict: (fields) => {
      conflict = fields;
      return original.onConflict.call(qb, fields);
    },
    merge: (data) => {
      const merged = data === undefined ? [key.name] : Array.isArray(data) ? data : Object.keys(data as object);
      // MariaDB and MySQL merge at a conflict of any unique key, whichever is named.
      const isSame = names.includes(String(conflict)) && !/my|maria/i.test(platform.constructor.name);
      if (isSame || !merged.some((name) => names.includes(String(name)))) return original.merge.call(qb, data);
      throw refused(
        key,
        'key-update',
        'would be rewritten in an existing row',
        "Name the others: merge(['customer']).",
      );
    },
    clone: (...args) => guarded(original.clone.apply(qb, args), key, platform),
  };
  for (const [name, guard] of Object.entries(guards)) if (name in original) Object.assign(qb, { [name]: guard });
  return qb;
}

/** What is looked at of Kysely's `InsertQueryNode`. */
interface InsertNode {
  readonly kind: string;
  readonly into?: { table: { identifier: { name: string } } };
  readonly columns?: readonly ColumnNode[];
  readonly replace?: boolean;
  readonly onConflict?: Updates;
  readonly onDuplicateKey?: Updates;
}

interface Updates {
  readonly updates?: readonly { column: ColumnNode }[];
}

interface ColumnNode {
  readonly column?: { name?: string };
}

function checkKyselyInsert(node: InsertNode, key: Key, isHooked: boolean): void {
  const isKey = ({ column }: ColumnNode): boolean => column?.name === key.name || column?.name === key.fieldNames[0];
  if (!node.columns?.some(isKey)) {
    const wayOut = 'Give it the ID: ids.nextId(), or use em.getKysely({ processOnCreateHooks: true }).';
    throw refused(key, 'unfilled', 'has no value in an insert of Kysely', wayOut);
  }
  if (node.replace === true && isHooked) {
    throw refused(key, 'replace', 'would be another one in a row that is replaced', 'Use onDuplicateKeyUpdate().');
  }
  if ([...(node.onConflict?.updates ?? []), ...(node.onDuplicateKey?.updates ?? [])].some((one) => isKey(one.column))) {
    throw refused(key, 'key-update', 'would be rewritten in an existing row', 'Leave it out of what is updated.');
  }
}

/** What this file calls of MikroORM's entity manager, which has a class for each database and version. */
interface Manager {
  getMetadata(entity?: unknown): Meta;
  getPlatform(): Platform;
  insert(target: unknown, data?: object, options?: object): Promise<unknown>;
  insertMany(target: unknown, data?: readonly object[], options?: object): Promise<unknown[]>;
  upsert(target: unknown, data?: object, options?: UpsertOptions): Promise<unknown>;
  upsertMany(target: unknown, data?: readonly object[], options?: UpsertOptions): Promise<unknown[]>;
  clone(target: unknown, ...rest: unknown[]): Promise<unknown>;
  createQueryBuilder(target: unknown, ...rest: unknown[]): QueryBuilder;
  getKysely(options?: KyselyOptions): { withPlugin(plugin: object): unknown };
}

type Row = Record<string, unknown>;

/** What a call of the entity manager is about. */
interface Target {
  readonly meta: Meta;
  /** Undefined when the entity has no key of ours. */
  readonly key: Key | undefined;
  readonly rows: readonly Row[];
}

interface MetadataStorage {
  getAll(): Map<unknown, Meta>;
}

interface UpsertOptions {
  readonly onConflictAction?: string;
  readonly onConflictFields?: unknown;
  readonly onConflictExcludeFields?: readonly string[];
  readonly onConflictMergeFields?: readonly string[];
  readonly onConflictWhere?: unknown;
}

interface KyselyOptions {
  readonly processOnCreateHooks?: boolean;
}

/**
 * The entity manager with IDs for what goes past entities: `insert()`, `insertMany()`, which returns the IDs of all rows,
 * `upsert()` and `upsertMany()`, which leave an existing row its key. Refused are a query builder's insert without a key
 * or with a merge that rewrites the key, `clone()`, and Kysely's inserts without a key.
 * @param base the `EntityManager` of the database's package, such as `@mikro-orm/postgresql`
 * @returns what `MikroORM.init()` takes as `entityManager`; forks, transactions and repositories have it too
 * @example `MikroORM.init({ entityManager: withSnowflakes(EntityManager), ... })`
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a mixin's base takes is the base's affair.
export function withSnowflakes<Base extends abstract new (...args: any[]) => core.EntityManager>(base: Base): Base {
  const Original = base as unknown as new (...args: unknown[]) => Manager;
  class SnowflakeEntityManager extends Original {
    override async insert(target: unknown, data?: object, options?: object): Promise<unknown> {
      const { meta, key, rows } = this.rowsOf(target, data && [data]);
      if (key === undefined) return super.insert(target, data, options);
      const [row] = await filled(key, rows);
      await (data === undefined ? super.insert(row, undefined, options) : super.insert(target, row, options));
      return keyValue(meta, row!);
    }

    override async insertMany(target: unknown, data?: readonly object[], options?: object): Promise<unknown[]> {
      const { meta, key, rows } = this.rowsOf(target, data);
      if (key === undefined) return super.insertMany(target, data, options);
      const all = await filled(key, rows);
      await (data === undefined ? super.insertMany(all, undefined, options) : super.insertMany(target, all, options));
      return all.map((row) => keyValue(meta, row));
    }

    override async upsert(target: unknown, data?: object, options?: UpsertOptions): Promise<unknown> {
      const { meta, key, rows } = this.rowsOf(target, data && [data]);
      const told = key && upsertOptions(meta, key, rows, options);
      if (told === undefined) return super.upsert(target, data, options);
      const [row] = await filled(key!, rows);
      return data === undefined ? super.upsert(row, undefined, told) : super.upsert(target, row, told);
    }

    override async upsertMany(target: unknown, data?: readonly object[], options?: UpsertOptions): Promise<unknown[]> {
      const { meta, key, rows } = this.rowsOf(target, data);
      const told = key && upsertOptions(meta, key, rows, options);
      if (key !== undefined && isReadBack(key, this.getPlatform(), options)) {
        const entities: unknown[] = [];
        for (const row of rows) {
          const upserted = data === undefined ? this.upsert(row, data, options) : this.upsert(target, row, options);
          entities.push(await upserted);
        }
        return entities;
      }
      if (told === undefined) return super.upsertMany(target, data, options);
      const all = await filled(key!, rows);
      return data === undefined ? super.upsertMany(all, undefined, told) : super.upsertMany(target, all, told);
    }

    override async clone(target: unknown, ...rest: unknown[]): Promise<unknown> {
      const { key } = this.rowsOf(target, Utils.isEntity(target) ? undefined : []);
      if (key !== undefined) throw refused(key, 'select', 'would be copied by em.clone() without an ID', ENTITIES);
      return super.clone(target, ...rest);
    }

    override createQueryBuilder(target: unknown, ...rest: unknown[]): QueryBuilder {
      const qb = super.createQueryBuilder(target, ...rest);
      if (typeof target === 'object' && target !== null && 'getQuery' in target) return qb;
      const key = keyOf(this.getMetadata(target));
      return key === undefined ? qb : guarded(qb, key, this.getPlatform());
    }

    override getKysely(options?: KyselyOptions): { withPlugin(plugin: object): unknown } {
      const transformQuery = ({ node }: { node: InsertNode }): InsertNode => {
        const key = keyOf(this.metaOfTable(node.into?.table.identifier.name));
        if (key !== undefined) checkKyselyInsert(node, key, options?.processOnCreateHooks === true);
        return node;
      };
      const transformResult = ({ result }: { result: unknown }): Promise<unknown> => Promise.resolve(result);
      return super.getKysely(options).withPlugin({ transformQuery, transformResult }) as ReturnType<
        Manager['getKysely']
      >;
    }

    private metaOfTable(name: string | undefined): Meta | undefined {
      const all = name === undefined ? [] : (this.getMetadata() as unknown as MetadataStorage).getAll().values();
      return [...all].find((meta) => meta.tableName === name || meta.className === name);
    }

    private rowsOf(target: unknown, data: readonly object[] | undefined): Target {
      const rows = (data ?? (Array.isArray(target) ? target : [target])) as readonly Row[];
      const [first] = rows;
      if (data === undefined && first === undefined) return { meta: {} as Meta, key: undefined, rows };
      const meta = this.getMetadata(data === undefined ? first!.constructor : target);
      return { meta, rows, key: keyOf(meta) };
    }
  }
  return SnowflakeEntityManager as unknown as Base;
}
