/** The entity manager that gives IDs to inserts without entities. */

import type * as core from '@mikro-orm/core';
import { getWhereCondition, type Platform, Utils } from '@mikro-orm/core';
import type { OperationNode } from 'kysely';
import { tableOf } from '../kysely/columns.js';
import { writesIn } from '../kysely/compiler.js';
import { keyUpdateRefused } from '../upserts.js';
import { type AllMeta, checkDeclarations, isTyped } from './declarations.js';
import {
  checkKysely,
  ENTITIES,
  guarded,
  isNamed,
  type KyselyOptions,
  type QueryBuilder,
  refused,
  refuseLacking,
  requiring,
} from './guards.js';
import { databaseOf, isMade, type Key, keysOf, lacks, type Meta, type Row, withIds } from './key.js';

/** The methods of MikroORM's entity manager that this file calls. Each database and version has a class of its own. */
interface Manager {
  getMetadata(entity?: unknown): Meta & { getAll(): AllMeta };
  getPlatform(): Platform;
  getDriver(): Driver;
  insert(target: unknown, data?: object, options?: object): Promise<unknown>;
  insertMany(target: unknown, data?: readonly object[], options?: object): Promise<unknown[]>;
  upsert(target: unknown, data?: object, options?: UpsertOptions): Promise<unknown>;
  upsertMany(target: unknown, data?: readonly object[], options?: UpsertOptions): Promise<unknown[]>;
  clone(target: unknown, ...rest: unknown[]): Promise<unknown>;
  createQueryBuilder(target: unknown, ...rest: unknown[]): QueryBuilder;
  getKysely(options?: KyselyOptions): { withPlugin(plugin: object): never };
  getDataLoader(type: string): Promise<Loader>;
}

/** Loads what several collections ask for in one statement. */
interface Loader {
  load(asked: readonly [collection: Collection, options: object]): Promise<unknown>;
}

interface Collection {
  readonly owner: object;
  init(options: object): Promise<unknown>;
  getItems(check: boolean): unknown;
  loadCount(options: object): Promise<number>;
}

/**
 * The entity manager that gives IDs to inserts without entities: `insert()`, `insertMany()`, which returns the IDs of all
 * rows, `upsert()` and `upsertMany()`, which keep the key of an existing row, and a query builder's `insert()`. It refuses a
 * merge that changes the key, an insert from a query, `clone()`, and Kysely's inserts without a key.
 * @param base the `EntityManager` of the database's package, such as `@mikro-orm/postgresql`
 * @returns what `MikroORM.init()` takes as `entityManager`; forks, transactions and repositories have it too
 * @example `MikroORM.init({ entityManager: withSnowflakes(EntityManager), ... })`
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the base class defines its parameters.
export function withSnowflakes<Base extends abstract new (...args: any[]) => core.EntityManager>(base: Base): Base {
  const Original = base as unknown as new (...args: unknown[]) => Manager;
  class SnowflakeEntityManager extends Original {
    constructor(...given: unknown[]) {
      super(...given);
      checkDeclarations(this.getMetadata().getAll(), databaseOf(this.getPlatform()));
      const driver = this.getDriver();
      pageByKeys(driver, (entity) => this.keysAt(entity).length > 0);
      requireKeys(driver, (entity) => this.keysAt(entity));
    }

    override async insert(given: unknown, data?: object, options?: object): Promise<unknown> {
      const { target, rows, meta, keys } = this.about(given, data === undefined ? undefined : [data]);
      if (keys.length === 0) return super.insert(given, data, options);
      const [row] = await filled(keys, rows);
      await super.insert(target, row, options);
      return keyValue(meta, row!);
    }

    override async insertMany(given: unknown, data?: readonly object[], options?: object): Promise<unknown[]> {
      const { target, rows, meta, keys } = this.about(given, data);
      if (keys.length === 0) return super.insertMany(given, data, options);
      const all = await filled(keys, rows);
      await super.insertMany(target, all, options);
      return all.map((row) => keyValue(meta, row));
    }

    override async upsert(given: unknown, data?: object, options?: UpsertOptions): Promise<unknown> {
      const { target, rows, meta, keys } = this.about(given, data === undefined ? undefined : [data]);
      if (keys.length === 0) return super.upsert(given, data, options);
      const told = upsertOptions(meta, keys, rows, this.getPlatform(), options);
      const [row] = await filled(keys, rows);
      return super.upsert(target, row, told);
    }

    override async upsertMany(
      given: unknown,
      data?: readonly object[],
      options: UpsertOptions = {},
    ): Promise<unknown[]> {
      const { target, rows, meta, keys } = this.about(given, data);
      if (keys.length === 0 || rows.length === 0) return super.upsertMany(given, data, options);
      const told = upsertOptions(meta, keys, rows, this.getPlatform(), options);
      if (isReadBack(keys, this.getPlatform(), options)) {
        const upserted: unknown[] = [];
        for (const row of rows) upserted.push(await this.upsert(target, row, options));
        return upserted;
      }
      return super.upsertMany(target, await filled(keys, rows), told);
    }

    override async clone(given: unknown, ...rest: unknown[]): Promise<unknown> {
      const [key] = this.about(given, Utils.isEntity(given) ? undefined : []).keys;
      if (key !== undefined) throw refused(key, 'select', 'would be copied by em.clone() without an ID', ENTITIES);
      return super.clone(given, ...rest);
    }

    override createQueryBuilder(target: unknown, ...rest: unknown[]): QueryBuilder {
      const qb = super.createQueryBuilder(target, ...rest);
      const keys = this.keysAt(target);
      return keys.length === 0 ? qb : guarded(qb, keys, this.getPlatform());
    }

    override getKysely(options?: KyselyOptions): never {
      const transformQuery = ({ node }: { node: OperationNode }): OperationNode => {
        const metas = [...(this.getMetadata().getAll() as ReadonlyMap<unknown, Meta>).values()];
        for (const write of writesIn(node)) {
          const name = tableOf(write.into)?.identifier.name;
          const meta = metas.find((each) => each.tableName === name || each.className === name);
          for (const key of name === undefined ? [] : keysOf(meta)) checkKysely(write, key);
        }
        return node;
      };
      const transformResult = ({ result }: { result: unknown }): Promise<unknown> => Promise.resolve(result);
      return super.getKysely(options).withPlugin({ transformQuery, transformResult });
    }

    /**
     * The loaders of many-to-many collections and of counts compare the owner's typed ID with the number in the database. Such
     * a collection is loaded by a statement of its own.
     */
    override async getDataLoader(type: string): Promise<Loader> {
      const loader = await super.getDataLoader(type);
      if (type !== 'm:n' && type !== 'count') return loader;
      return {
        load: async ([collection, options]) => {
          if (!isTyped(this.getMetadata(collection.owner.constructor))) return loader.load([collection, options]);
          const alone = { ...options, dataloader: false };
          if (type === 'count') return collection.loadCount({ ...alone, refresh: true });
          await collection.init(alone);
          return collection.getItems(false);
        },
      };
    }

    /** The keys of an entity; none for a subquery. */
    private keysAt(target: unknown): readonly Key[] {
      const isQuery = typeof target === 'object' && target !== null && 'getQuery' in target;
      return isQuery ? [] : keysOf(this.getMetadata(target));
    }

    /** The arguments of a call: entities, or an entity's class and data. */
    private about(given: unknown, data: readonly object[] | undefined): Call {
      const rows = (data ?? [given].flat()) as readonly Row[];
      const target = data === undefined ? rows[0]?.constructor : given;
      const meta = this.getMetadata(target);
      return { target, rows, meta, keys: keysOf(meta) };
    }
  }
  return SnowflakeEntityManager as unknown as Base;
}

interface Driver {
  createQueryBuilder: (entity: unknown, ...rest: unknown[]) => QueryBuilder & { wrapPaginateSubQuery?: unknown };
  nativeInsertMany: (entity: unknown, rows: readonly Row[], ...rest: unknown[]) => Promise<unknown>;
}

/**
 * Refuses rows without a key in the inserts of the driver, where the database would give them an ID that the ORM does not
 * know. Without `databaseDefault` the database refuses them. All but `nativeInsertMany()` insert by a query builder.
 */
function requireKeys(driver: Driver, keysAt: (entity: unknown) => readonly Key[]): void {
  if (Object.hasOwn(driver, 'nativeInsertMany')) return;
  const { createQueryBuilder, nativeInsertMany } = driver;
  const declaredAt = (entity: unknown): readonly Key[] =>
    keysAt(entity).filter(({ customType }) => customType.keys.databaseDefault !== undefined);
  driver.createQueryBuilder = (entity, ...rest) =>
    requiring(createQueryBuilder.call(driver, entity, ...rest), declaredAt(entity));
  driver.nativeInsertMany = async (entity, rows, ...rest) => {
    refuseLacking(declaredAt(entity), rows);
    return nativeInsertMany.call(driver, entity, rows, ...rest);
  };
}

/**
 * On MariaDB, MikroORM selects a page of rows with joined ones by `json_contains()`. That finds no keys of type text, and
 * compares numbers as doubles, so that neighbours are equal. `id in (select ...)`, as on the other databases, is right.
 */
function pageByKeys(driver: Driver, hasKeyOfOurs: (entity: unknown) => boolean): void {
  const create = driver.createQueryBuilder;
  if (Object.hasOwn(driver, 'createQueryBuilder')) return;
  driver.createQueryBuilder = (entity, ...rest) => {
    const qb = create.call(driver, entity, ...rest);
    const own = Object.getPrototypeOf(qb) as typeof qb;
    const { wrapPaginateSubQuery } = Object.getPrototypeOf(own) as typeof qb;
    const isMariaDb = wrapPaginateSubQuery !== undefined && Object.hasOwn(own, 'wrapPaginateSubQuery');
    return isMariaDb && hasKeyOfOurs(entity) ? Object.assign(qb, { wrapPaginateSubQuery }) : qb;
  };
}

interface Call {
  readonly target: unknown;
  readonly rows: readonly Row[];
  readonly meta: Meta;
  readonly keys: readonly Key[];
}

/** Returns the rows with keys. An entity gets its key itself; plain data is copied, and the caller's object stays as it is. */
async function filled(keys: readonly Key[], rows: readonly Row[]): Promise<readonly Row[]> {
  let all = rows;
  for (const key of keys) {
    const { keys: source } = key.customType;
    const count = all.filter((row) => lacks(key, row)).length;
    if (count === 0) continue;
    all = withIds(key, all, await source.takeWaiting(count));
  }
  return all;
}

/** The primary key as the ORM returns it: an array if it has several properties. */
function keyValue(meta: Meta, row: Row): unknown {
  const [name, ...others] = meta.primaryKeys!;
  if (others.length === 0 && typeof row[name!] === 'string') return row[name!];
  const data = (Utils.isEntity as (row: Row) => boolean)(row) ? row : { ...row };
  return Utils.extractPK(data, meta as never);
}

// Upserts.

interface UpsertOptions {
  readonly onConflictAction?: string;
  readonly onConflictFields?: unknown;
  readonly onConflictExcludeFields?: readonly string[];
  readonly onConflictMergeFields?: readonly string[];
  readonly onConflictWhere?: unknown;
}

/**
 * The options of an upsert with which an existing row keeps its key. Without them MikroORM updates a key that the
 * application has given, version 6 also a new one, and both versions look for the row by the key that `em.create()` has
 * made. With a new key, the row is found by another unique property.
 */
function upsertOptions(
  meta: Meta,
  keys: readonly Key[],
  rows: readonly Row[],
  platform: Platform,
  options: UpsertOptions = {},
): UpsertOptions {
  const { onConflictFields: named, onConflictMergeFields: merged, onConflictExcludeFields: excluded = [] } = options;
  const [key, ...others] = keys.filter((each) => rows.some((row) => isMade(each, row)));
  const made = key === undefined ? [] : [key, ...others];
  if (key !== undefined && named === undefined && !rows.every((row) => made.every((each) => isMade(each, row)))) {
    throw refused(key, 'key-update', 'is given for some rows of the upsert only', 'Call it once for each kind.');
  }
  const foundBy = named ?? (made.length === 0 ? meta.primaryKeys : uniqueIn(meta, rows[0]!));
  if (key !== undefined && foundBy === undefined) {
    throw refused(key, 'no-conflict', 'is new, and nothing else in the row of the upsert is unique', ENTITIES);
  }
  const withoutValue = (name: unknown): boolean =>
    typeof name === 'string' && !name.includes('.') && rows.some((row) => row[name] == null);
  if (key !== undefined && Array.isArray(foundBy) && foundBy.some(withoutValue)) {
    const what = `is new, and a row of the upsert has no value of ${foundBy.join(', ')}, which would find an existing one`;
    throw refused(key, 'no-conflict', what, ENTITIES);
  }
  const isFoundBy = ({ name }: Key): boolean => Array.isArray(foundBy) && foundBy.includes(name);
  for (const each of keys) {
    if (!isNamed(each, merged) && merged?.includes('*') !== true) continue;
    // MariaDB and MySQL find a row by all that is unique.
    if (isFoundBy(each) && platform.usesReturningStatement()) continue;
    throw keyUpdateRefused(each.place, 'Name the other properties in onConflictMergeFields.');
  }
  const kept = keys.filter((each) => !isFoundBy(each)).map(({ name }) => name);
  const told = made.length === 0 ? options : { ...options, onConflictFields: foundBy };
  return kept.length === 0 ? told : { ...told, onConflictExcludeFields: [...excluded, ...kept] };
}

/** The unique properties by which an existing row is found, as the ORM chooses them. */
function uniqueIn(meta: Meta, row: Row): readonly string[] | undefined {
  const { where } = getWhereCondition<object>(meta as never, undefined, row, undefined as never);
  return where === undefined ? undefined : Object.keys(where);
}

/**
 * Whether `upsertMany()` would read rows back, because the insert returns no rows, or none for the rows that it leaves
 * alone. The entities would then hold the driver's values instead of those of the property's type.
 */
function isReadBack(keys: readonly Key[], platform: Platform, options: UpsertOptions): boolean {
  if (keys.length === 0) return false;
  // mysql2 gives a number for an ID below 2^53, and a text above.
  if (!platform.usesReturningStatement()) return true;
  const isReturned = options.onConflictAction !== 'ignore' && options.onConflictWhere === undefined;
  return !isReturned && !keys.every(({ customType }) => customType.keys.form.isDecimalText);
}
