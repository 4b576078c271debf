/** The models of a Sequelize, and its query interface, with IDs for what goes past the defaults of attributes. */

import { EmptyResultError, literal, type ModelStatic, Op, type Options } from 'sequelize';
import { InsertRefusedError } from '../ids.js';
import { type Attribute, idsOf, isId, isMysql, type Key, keysOf, show, SnowflakeType } from './key.js';

/**
 * Gives IDs to what goes past the defaults of attributes: `bulkCreate()` with `fields`, keys that are null,
 * `queryInterface.bulkInsert()` and `insert()`. An upsert leaves an existing row its key, and tells it to the instance.
 * @param options of Sequelize: these are returned, with a hook that no call leaves out
 * @example `new Sequelize(url, withSnowflakes())`
 * @example `SequelizeModule.forRoot(withSnowflakes({ dialect: 'postgres', ... }))`
 */
export function withSnowflakes<Given extends Options = Options>(options?: Given): Given {
  const { afterDefine = [], ...hooks } = (options?.hooks ?? {}) as Readonly<Record<string, unknown>>;
  return { ...options, hooks: { ...hooks, afterDefine: [guard, ...[afterDefine].flat()] } } as unknown as Given;
}

type Row = Record<string, unknown>;

/** What this file calls of an instance. */
interface Instance {
  readonly dataValues: Row;
  readonly _previousDataValues: Row;
  isNewRecord: boolean;
  changed(name: string): boolean;
  set(name: string, value: unknown, options: { raw: true }): unknown;
}

/** What this file calls of a model. Models with another schema or scope are classes that extend it. */
interface Guarded {
  readonly name: string;
  readonly tableName: string;
  readonly _schema?: string | null;
  autoIncrementAttribute: string | null;
  readonly sequelize: Sequelize;
  readonly prototype: {
    save: (this: Instance, options?: CallOptions) => Promise<unknown>;
    _initValues: (this: Instance, values: Row, options: object) => void;
  };
  readonly options: { readonly hooks: Record<string, unknown[]> };
  readonly rawAttributes: Record<string, Attribute>;
  /** Those with a column. */
  readonly tableAttributes: Record<string, Attribute>;
  readonly fieldRawAttributesMap: Record<string, Attribute>;
  readonly associations: Readonly<Record<string, { readonly associationType: string }>>;
  readonly primaryKeys: Record<string, unknown>;
  readonly uniqueKeys: Record<string, { readonly fields: readonly string[] }>;
  readonly _indexes: readonly { readonly unique?: boolean; readonly where?: unknown; readonly fields: unknown[] }[];
  refreshAttributes(): void;
  readonly bulkCreate: (this: Guarded, records: readonly Row[], options?: CallOptions) => Promise<Instance[]>;
  readonly upsert: (this: Guarded, values: Row, options?: CallOptions) => Promise<unknown>;
  unscoped(): { findAll(options: object): Promise<Row[]> };
}

interface Sequelize {
  readonly models: Record<string, Guarded>;
  getDialect(): string;
  getQueryInterface(): QueryInterface;
}

type Table = string | { readonly tableName: string; readonly schema?: string };

interface QueryInterface {
  insert(instance: Instance | null, table: Table, values: Row, options?: CallOptions): Promise<unknown>;
  bulkInsert(table: Table, rows: readonly Row[], options?: CallOptions, attributes?: object): Promise<unknown>;
  upsert: (table: Table, values: Row, updates: Row, where: object, options: UpsertOptions) => Promise<unknown>;
  update(instance: Instance, table: Table, values: Row, where: Row, options?: CallOptions): Promise<unknown>;
  select(model: Guarded | null | undefined, table: Table, options?: SelectOptions): Promise<unknown>;
  rawSelect(table: Table, options: { readonly dataType?: unknown }, name: string, model: unknown): Promise<unknown>;
  increment: Increment;
  decrement: Increment;
  readonly queryGenerator: { whereItemsQuery(where: object, options: { readonly model: Guarded }): string };
}

type Increment = (model: Guarded, table: Table, where: object, ...rest: unknown[]) => Promise<unknown>;

interface CallOptions {
  readonly fields?: readonly string[];
  readonly ignoreDuplicates?: boolean;
  readonly updateOnDuplicate?: readonly string[];
  readonly conflictAttributes?: readonly string[];
  readonly conflictFields?: readonly string[];
  readonly returning?: boolean | readonly unknown[];
  readonly include?: unknown;
  readonly hooks?: boolean;
  readonly model?: Guarded;
  readonly transaction?: unknown;
  readonly logging?: unknown;
  readonly searchPath?: unknown;
}

interface SelectOptions {
  readonly raw?: boolean;
  /** Of an `include` with `separate` and `limit`. */
  readonly groupedLimit?: {
    readonly on: { readonly source?: Guarded; readonly sourceKey: string };
    readonly values: readonly unknown[];
  };
}

interface UpsertOptions extends CallOptions {
  /** None where the application calls the query interface itself. */
  readonly instance?: Instance;
  readonly model: Guarded;
}

const GUARDED = Symbol('guarded');

/**
 * Runs when a model is defined. A hook that Sequelize would run later could be left out, by `hooks: false`. It must not
 * throw: Sequelize waits for no hook of this kind.
 */
function guard(given: ModelStatic<never>): void {
  const model = given as unknown as Guarded;
  const { sequelize, rawAttributes } = model;
  for (const [name, attribute] of Object.entries(rawAttributes)) {
    if (!(attribute.type instanceof SnowflakeType)) continue;
    const type = attribute.type.in(sequelize.getDialect(), `${model.name}.${name}`);
    // A copy: two models may be made of the same attributes. A column that counts would fill what is left out.
    rawAttributes[name] = { ...attribute, type, autoIncrement: false };
    if (model.autoIncrementAttribute === name) model.autoIncrementAttribute = null;
  }
  model.refreshAttributes();
  // Also of a model without keys of ours: an association may give it foreign keys later.
  if (!(GUARDED in model)) guardModel(model);
  // Before those of the application, which may use the IDs. A model that is defined again has lost it.
  const { hooks } = model.options;
  hooks['afterBulkCreate'] = [settle, ...(hooks['afterBulkCreate'] ?? [])];
  guardQueries(sequelize);
}

function modelOf(instance: Instance): Guarded {
  return instance.constructor as unknown as Guarded;
}

function guardModel(model: Guarded): void {
  const { bulkCreate, upsert, prototype } = model;
  const { save, _initValues: initValues } = prototype;
  prototype._initValues = function (values, options) {
    initValues.call(this, values, options);
    // Of a find, as the driver delivers them.
    if (this.isNewRecord) return;
    show(idsOf(modelOf(this)), this.dataValues);
    show(idsOf(modelOf(this)), this._previousDataValues);
  };
  prototype.save = async function (options) {
    if (!this.isNewRecord) return save.call(this, options);
    const keys = keysOf(modelOf(this));
    for (const { name, type } of keys) {
      if (this.dataValues[name] == null) this.set(name, (await taken(type, 1))[0], { raw: true });
    }
    return save.call(
      this,
      options?.fields === undefined ? options : { ...options, fields: withNames(options.fields, keys) },
    );
  };
  Object.assign(model, {
    [GUARDED]: true,
    async bulkCreate(this: Guarded, records: readonly Row[], options: CallOptions = {}) {
      const keys = keysOf(this);
      const told = bulkOptions(this, keys, records, options);
      const instances = await bulkCreate.call(this, await withIds(keys, records, options.fields), told);
      if (options.hooks === false) await settle(instances, { ...told, model: this });
      return instances;
    },
    upsert(this: Guarded, values: Row, options?: CallOptions) {
      const given = { ...values };
      for (const { name } of keysOf(this)) if (given[name] == null) delete given[name];
      return upsert.call(this, given, options);
    },
  });
}

async function taken({ keys }: SnowflakeType, count: number): Promise<readonly unknown[]> {
  return count === 0 ? [] : keys.takeWaiting(count);
}

function withNames(fields: readonly string[], keys: readonly Key[]): string[] {
  return [...new Set([...fields, ...keys.map(({ name }) => name)])];
}

/** Copies of the records with their IDs. `fields` leaves out what a record has of others, so also of the keys. */
async function withIds(keys: readonly Key[], records: readonly Row[], fields?: readonly string[]): Promise<Row[]> {
  // With a place for the key: V8 needs 3 ms more for 1,000 rows that get one later.
  const rows = records.map((record) => keys.reduce<Row>((row, { name }) => ({ [name]: undefined, ...row }), record));
  for (const { name, type } of keys) {
    const isTaken = fields?.includes(name) ?? true;
    const without = rows.filter((row) => !isTaken || row[name] == null);
    const ids = await taken(type, without.length);
    without.forEach((row, at) => (row[name] = ids[at]));
  }
  return rows;
}

/** The options of `bulkCreate()` as Sequelize has to be told them. */
function bulkOptions(model: Guarded, keys: readonly Key[], records: readonly Row[], options: CallOptions): CallOptions {
  const [key] = keys;
  const { fields, updateOnDuplicate, include } = options;
  const told = fields === undefined ? options : { ...options, fields: withNames(fields, keys) };
  if (key === undefined) return told;
  if (hasEntries(include) && isReadBack(model, options)) throw refused(key, 'unfilled', IGNORED_PARENT);
  const hasUpdates = Array.isArray(updateOnDuplicate) && uniqueSets(model, options).length === 0;
  if (hasUpdates && records.some((record) => record[key.name] == null)) {
    throw refused(key, 'no-conflict', NOTHING_UNIQUE);
  }
  return told;
}

function hasEntries(include: unknown): boolean {
  return Array.isArray(include) ? include.length > 0 : include !== undefined;
}

/** Whether rows of a bulk insert may have been there, so that their keys must be read back afterwards. */
function isReadBack(model: Guarded, { ignoreDuplicates, updateOnDuplicate, returning = true }: CallOptions): boolean {
  return ignoreDuplicates === true || (updateOnDuplicate !== undefined && !isTold(model, { returning }));
}

/** Whether Sequelize itself reads back the keys of the rows that were there. */
function isTold(model: Guarded, { returning }: CallOptions): boolean {
  return model.sequelize.getDialect() === 'postgres' && returning === true;
}

// The query interface: what has no model, and what a model sends.

function guardQueries(sequelize: Sequelize): void {
  const queries = sequelize.getQueryInterface();
  if (GUARDED in queries) return;
  const insert = queries.insert.bind(queries);
  const bulkInsert = queries.bulkInsert.bind(queries);
  const upsert = queries.upsert.bind(queries);
  const update = queries.update.bind(queries);
  // That of SQLite finds rows by the primary key alone.
  const isSqlite = sequelize.getDialect() === 'sqlite';
  const { upsert: upsertByUnique } = Object.getPrototypeOf(
    isSqlite ? Object.getPrototypeOf(queries) : queries,
  ) as QueryInterface;
  Object.assign(queries, { [GUARDED]: true });

  queries.insert = async (instance, table, values, options) => {
    if (instance == null) {
      const [row] = await withColumns(keysAt(sequelize, table), [values]);
      return insert(instance, table, row!, options);
    }
    const keys = keysOf(modelOf(instance));
    const told = updatingNoKey(keys, 'name', options);
    const result = (await insert(instance, table, values, told)) as [Instance, unknown];
    show(idsOf(modelOf(instance)), instance.dataValues);
    if (options?.ignoreDuplicates === true && result[1] === 0) {
      // As on PostgreSQL. The instance has an ID that is in no row.
      instance.isNewRecord = true;
      throw new EmptyResultError('The row was ignored as a duplicate.');
    }
    // Of a bulkCreate() with individual hooks.
    if (keys.length > 0 && options?.updateOnDuplicate !== undefined) {
      await readBack(modelOf(instance), keys, [instance], options);
    }
    return result;
  };

  queries.bulkInsert = async (table, rows, options, attributes) => {
    const model = options?.model;
    const keys = model === undefined ? keysAt(sequelize, table) : keysOf(model);
    const told = updatingNoKey(keys, 'field', options);
    if (model === undefined) return bulkInsert(table, await withColumns(keys, rows), told, attributes);
    const key = keys.find(({ field }) => rows.some((row) => row[field] == null));
    if (key !== undefined) throw refused(key, 'unfilled', WITHOUT_KEY);
    if (keys.length > 0 && hasReferringRows(model, told!)) throw refused(keys[0]!, 'unfilled', IGNORED_PARENT);
    // Sequelize would give what PostgreSQL returns of the inserted rows to the first instances.
    const isIgnoring = keys.length > 0 && options?.ignoreDuplicates === true;
    const results = await bulkInsert(table, rows, isIgnoring ? { ...told, returning: false } : told, attributes);
    if (Array.isArray(results)) for (const row of results as Row[]) show(idsOf(model), row, 'field');
    return results;
  };

  queries.upsert = async (table, values, updates, where, options) => {
    const { model, instance, conflictFields = [] } = options;
    const keys = keysOf(model);
    const [key] = keys;
    if (key === undefined) return upsert(table, values, updates, where, options);
    const [row] = instance === undefined ? await withColumns(keys, [values]) : [values];
    if (instance?.changed(key.name) === false && uniquesIn(model, instance, options).length === 0) {
      throw refused(key, 'no-conflict', NOTHING_UNIQUE);
    }
    // MySQL finds the row by all that is unique, others by the key unless they are told otherwise.
    const isFoundBy = ({ field }: Key): boolean =>
      !isMysql(model.sequelize.getDialect()) && (conflictFields.length === 0 || conflictFields.includes(field));
    const kept = { ...updates };
    for (const each of keys) if (!isFoundBy(each) || values[each.field] == null) delete kept[each.field];
    const result = await upsertByUnique.call(queries, table, row!, kept, where, options);
    if (instance !== undefined) show(idsOf(model), instance.dataValues);
    const isReadBack = isTold(model, options) && Object.keys(kept).length > 0;
    if (instance !== undefined && !isReadBack) await readBack(model, keys, [instance], options);
    return result;
  };

  const select = queries.select.bind(queries);
  queries.select = async (model, table, options) => {
    const found = await select(model, table, withGroups(options));
    // Associations compare what `raw: true` finds with the keys of instances.
    if (model != null && options?.raw === true && found != null) {
      for (const row of [found].flat() as Row[]) show(idsOf(model), row);
    }
    return found;
  };

  const rawSelect = queries.rawSelect.bind(queries);
  queries.rawSelect = async (table, options, name, model) => {
    const value = await rawSelect(table, options, name, model);
    const { dataType: type } = options;
    return type instanceof SnowflakeType && /^(min|max)$/i.test(name)
      ? type.keys.form.read(value, type.keys.place)
      : value;
  };

  // Sequelize leaves out of these which attribute a condition is about, so that the type would not be asked.
  queries.update = async (instance, table, values, where, options) => {
    const ids = idsOf(modelOf(instance));
    const told = { ...where };
    for (const { field, type } of ids) if (isId(told[field])) told[field] = type.stringify(told[field]);
    const result = await update(instance, table, values, told, options);
    show(ids, instance.dataValues);
    return result;
  };
  for (const name of ['increment', 'decrement'] as const) {
    const original = queries[name].bind(queries);
    queries[name] = async (model, table, where, ...rest) => {
      const ids = idsOf(model);
      const sql = ids.length === 0 ? '' : queries.queryGenerator.whereItemsQuery(where, { model });
      const result = await original(model, table, sql === '' ? where : { [Op.and]: [literal(sql)] }, ...rest);
      const { instance } = rest.at(-1) as { readonly instance?: Instance };
      if (instance !== undefined) show(ids, instance.dataValues);
      return result;
    };
  }
}

/** A SELECT with IDs as the database has them: Sequelize limits the rows of each parent by its key, but passes no type. */
function withGroups(options: SelectOptions | undefined): SelectOptions | undefined {
  const groups = options?.groupedLimit;
  const type = groups?.on.source?.rawAttributes[groups.on.sourceKey]?.type;
  if (groups === undefined || !(type instanceof SnowflakeType)) return options;
  return { ...options, groupedLimit: { ...groups, values: groups.values.map((id) => type.stringify(id)) } };
}

/** The keys of a table, by its model. */
function keysAt({ models }: Sequelize, table: Table): Key[] {
  const { tableName: name, schema } = typeof table === 'string' ? { tableName: table } : table;
  const model = Object.values(models).find((each) => each.tableName === name && (each._schema || undefined) === schema);
  return model === undefined ? [] : keysOf(model);
}

/** Whether rows of a `bulkCreate()` with an include would refer to rows whose keys are not known then. */
function hasReferringRows(
  model: Guarded,
  options: CallOptions & { readonly parent?: CallOptions; as?: string },
): boolean {
  // The row of a join table comes after its key is read back.
  const below = (options.include as readonly { readonly _pseudo?: boolean }[] | undefined) ?? [];
  if (below.some(({ _pseudo }) => _pseudo !== true) && isReadBack(model, options)) return true;
  const above = options.parent?.model?.associations[options.as!]?.associationType ?? '';
  return options.ignoreDuplicates === true && above.startsWith('BelongsTo');
}

/** Options of an insert that leave an existing row its keys. */
function updatingNoKey(
  keys: readonly Key[],
  by: 'name' | 'field',
  options: CallOptions | undefined,
): CallOptions | undefined {
  const updates = options?.updateOnDuplicate;
  if (updates === undefined || keys.length === 0) return options;
  const updateOnDuplicate = updates.filter((each) => !keys.some((key) => key[by] === each));
  if (updateOnDuplicate.length === 0) throw refused(keys[0]!, 'key-update', REWRITTEN);
  return { ...options, updateOnDuplicate };
}

/** Copies of rows as a table has them, by its columns, with their IDs. */
async function withColumns(keys: readonly Key[], rows: readonly Row[]): Promise<Row[]> {
  const all = rows.map((row) => ({ ...row }));
  for (const { field, type } of keys) {
    const ids = await taken(type, all.filter((row) => row[field] == null).length);
    let at = 0;
    for (const row of all) {
      row[field] ??= ids[at++];
      if (isId(row[field])) row[field] = type.stringify(row[field]);
    }
  }
  return all;
}

// Rows that were there.

/** Gives the instances of a bulk insert the keys of their rows, and those that were ignored none. */
async function settle(instances: readonly Instance[], options: CallOptions): Promise<void> {
  const model = options.model!;
  const keys = keysOf(model);
  if (keys.length > 0 && isReadBack(model, options)) await readBack(model, keys, instances, options);
}

async function readBack(
  model: Guarded,
  keys: readonly Key[],
  instances: readonly Instance[],
  options: CallOptions,
): Promise<void> {
  const [key] = keys as [Key];
  const idOf = (row: Row): string => String(key.type.stringify(row[key.name]));
  const find = (where: object, more: object = {}): Promise<Row[]> => {
    const { transaction, logging, searchPath } = options;
    const attributes = keys.map(({ name }) => name);
    // A replica may not have the rows yet.
    const past = { useMaster: true, paranoid: false, hooks: false, raw: true };
    return model.unscoped().findAll({ where, attributes, ...past, transaction, logging, searchPath, ...more });
  };
  const inserted = new Set<string>();
  for (const row of await find({ [key.name]: instances.map(({ dataValues }) => idOf(dataValues)) }))
    inserted.add(idOf(row));
  for (const instance of instances) {
    if (inserted.has(idOf(instance.dataValues))) continue;
    const uniques = options.ignoreDuplicates === true ? [] : uniquesIn(model, instance, options);
    // Locked, a transaction finds also what was committed after it had begun.
    const found = uniques.length === 0 ? [] : await find({ [Op.or]: uniques }, { lock: true, limit: 2 });
    const row = found.length === 1 ? found[0]! : {};
    for (const { name } of keys) instance.dataValues[name] = instance._previousDataValues[name] = row[name] ?? null;
    instance.isNewRecord = found.length !== 1;
  }
}

/** Conditions by which the existing row of an instance is found: one for each unique constraint. */
function uniquesIn(model: Guarded, instance: Instance, options: CallOptions): Row[] {
  const { dataValues: values } = instance;
  // A number that the database counts is guessed by Sequelize.
  const isKnown = (name: string): boolean =>
    values[name] != null && (name !== model.autoIncrementAttribute || instance.changed(name));
  return uniqueSets(model, options).flatMap((names) =>
    names.every(isKnown) ? [Object.fromEntries(names.map((name) => [name, values[name]]))] : [],
  );
}

/** The attributes of each unique constraint that the model declares, but for those with a key of ours. */
function uniqueSets(model: Guarded, { conflictFields, conflictAttributes }: CallOptions): string[][] {
  const { uniqueKeys, _indexes, primaryKeys, fieldRawAttributesMap, rawAttributes } = model;
  const sets: (readonly unknown[])[] = [
    conflictFields ?? conflictAttributes ?? [],
    Object.keys(primaryKeys),
    ...Object.values(uniqueKeys).map(({ fields }) => fields),
    ..._indexes.filter(({ unique, where }) => unique === true && where === undefined).map(({ fields }) => fields),
  ];
  const ours = new Set(keysOf(model).map(({ name }) => name));
  return sets
    .filter((fields) => fields.length > 0)
    .map((fields) => fields.map(nameOf).map((name) => fieldRawAttributesMap[name]?.fieldName ?? name))
    .filter((names) => names.every((name) => name in rawAttributes) && !names.some((name) => ours.has(name)));
}

/** Of an index, a field may be an object with options. */
function nameOf(field: unknown): string {
  const { name, attribute } = Object(field) as { readonly name?: string; readonly attribute?: string };
  return name ?? attribute ?? String(field);
}

function refused(key: Key, why: 'unfilled' | 'key-update' | 'no-conflict', wayOut: string): InsertRefusedError {
  return new InsertRefusedError(key.place, why, wayOut);
}

const WITHOUT_KEY =
  'has no value in a bulkCreate(): a hook has taken it out of the fields, or an include has it as null. Leave it in.';
const REWRITTEN =
  'is all that the upsert updates: an existing row would get the ID of the one that was not inserted. Name other ' +
  'attributes, or use ignoreDuplicates.';
const IGNORED_PARENT =
  'is not known for rows that were there, so that rows of an include would refer to none. Insert these in a second step.';
const NOTHING_UNIQUE =
  'is new, and nothing else in the row is unique, so that no existing row would be found. Declare what is unique in the ' +
  'model (unique: true, or indexes), give it a value, or use create().';
