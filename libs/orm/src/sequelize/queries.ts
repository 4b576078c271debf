/** The query interface of Sequelize: what has no model, and what every model sends. */

import { EmptyResultError, literal, Op } from 'sequelize';
import { InsertRefusedError, type InsertRefusal } from '../ids.js';
import {
  chosenForUpsert,
  conflictColumns,
  isReadBack,
  isTold,
  readBack,
  uniquesIn,
  uniqueSets,
} from './existing-rows.js';
import {
  type CallOptions,
  GUARDED,
  type Instance,
  type Model,
  modelOf,
  type QueryInterface,
  type Row,
  type SelectOptions,
  type Sequelize,
  type Table,
  type UpsertOptions,
} from './internals.js';
import { dialectNamed } from './dialects.js';
import { idsOf, inSchema, isId, type Key, keysOf, show, SnowflakeType } from './key.js';

/**
 * Gives IDs to `insert()` and `bulkInsert()`, leaves existing rows their keys, tells conditions the type of a key, and
 * tables the default of one.
 */
export function guardQueries(sequelize: Sequelize): void {
  const queries = sequelize.getQueryInterface();
  if (GUARDED in queries) return;
  const insert = queries.insert.bind(queries);
  const bulkInsert = queries.bulkInsert.bind(queries);
  const upsert = queries.upsert.bind(queries);
  const update = queries.update.bind(queries);
  const { hasOwnUpsert, namesUnique } = dialectNamed(sequelize.getDialect());
  const { upsert: upsertByUnique } = Object.getPrototypeOf(
    hasOwnUpsert ? Object.getPrototypeOf(queries) : queries,
  ) as QueryInterface;
  Object.assign(queries, { [GUARDED]: true });

  queries.insert = async (instance, table, values, options) => {
    if (instance == null) {
      const keys = keysAt(sequelize, table);
      const [row] = await withColumns(keys, [values]);
      return insert(instance, table, row!, updatingNoKey(keys, 'field', options));
    }
    const keys = keysOf(modelOf(instance));
    refuseLacking(keys, [values]);
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
    refuseLacking(keys, rows);
    if (keys.length > 0 && hasReferringRows(model, told!)) throw refused(keys[0]!, 'ignoredParent');
    // Sequelize would give what PostgreSQL returns of the inserted rows to the first instances.
    const isIgnoring = keys.length > 0 && options?.ignoreDuplicates === true;
    const results = await bulkInsert(table, rows, isIgnoring ? { ...told, returning: false } : told, attributes);
    if (Array.isArray(results)) for (const row of results as Row[]) show(idsOf(model), row, 'field');
    return results;
  };

  queries.upsert = async (table, values, updates, where, options) => {
    const { model, instance } = options;
    const keys = keysOf(model);
    const [key] = keys;
    if (key === undefined) return upsert(table, values, updates, where, options);
    const [row] = instance === undefined ? await withColumns(keys, [values]) : [values];
    if (instance?.changed(key.name) === false && uniquesIn(model, instance, options).length === 0) {
      throw refused(key, 'nothingUnique');
    }
    const told = namesUnique ? withTarget(keys, values, updates, options) : options;
    const kept = { ...updates };
    for (const { field } of keys) {
      if (told.conflictFields?.includes(field) !== true || values[field] == null) delete kept[field];
    }
    const result = await upsertByUnique.call(queries, table, row!, kept, where, told);
    if (instance !== undefined) show(idsOf(model), instance.dataValues);
    const isReadBack = isTold(model, options) && Object.keys(kept).length > 0;
    if (instance !== undefined && !isReadBack) await readBack(model, keys, [instance], options);
    return result;
  };

  const createTable = queries.createTable.bind(queries);
  queries.createTable = (table, attributes, ...rest) =>
    createTable(
      table,
      attributes &&
        Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, inSchema(attribute)])),
      ...rest,
    );
  for (const name of ['addColumn', 'changeColumn'] as const) {
    const original = queries[name].bind(queries);
    queries[name] = (table, column, attribute, ...rest) => original(table, column, inSchema(attribute), ...rest);
  }

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

/** @throws InsertRefusedError for a row of a model that has no value in the column of one of these keys */
function refuseLacking(keys: readonly Key[], rows: readonly Row[]): void {
  const key = keys.find(({ field }) => rows.some((row) => row[field] == null));
  if (key !== undefined) throw refused(key, 'withoutKey');
}

/** The options of an upsert with the columns by which PostgreSQL and SQLite find a row. */
function withTarget(keys: readonly Key[], values: Row, updates: Row, options: UpsertOptions): UpsertOptions {
  const { model, instance, conflictFields = [] } = options;
  if (conflictFields.length > 0) return options;
  const made = keys.filter(({ name, field }) =>
    instance === undefined ? values[field] == null : instance.changed(name) === false,
  );
  const updated = Object.keys(updates).filter((field) => !made.some((key) => key.field === field));
  const fieldOf = (name: string): string => model.rawAttributes[name]?.field ?? name;
  const sets =
    instance === undefined
      ? uniqueSets(model, options).filter((names) => names.every((name) => values[fieldOf(name)] != null))
      : uniquesIn(model, instance, options).map((unique) => Object.keys(unique));
  const chosen = chosenForUpsert(model, updated);
  return { ...options, conflictFields: conflictColumns(model, chosen, made, sets) ?? chosen };
}

/** A SELECT with IDs as the database has them: Sequelize limits the rows of each parent by its key, but passes no type. */
function withGroups(options: SelectOptions | undefined): SelectOptions | undefined {
  const groups = options?.groupedLimit;
  const type = groups?.on.source?.rawAttributes[groups.on.sourceKey]?.type;
  if (groups === undefined || !(type instanceof SnowflakeType)) return options;
  return { ...options, groupedLimit: { ...groups, values: groups.values.map((id) => type.stringify(id)) } };
}

/** The keys of a table, by its model. On PostgreSQL `parcels` and `{ tableName: 'parcels', schema: 'public' }` are the same. */
function keysAt(sequelize: Sequelize, table: Table): Key[] {
  const { ownSchema } = dialectNamed(sequelize.getDialect());
  const { tableName, schema } = typeof table === 'string' ? { tableName: table } : table;
  const model = Object.values(sequelize.models).find(
    (each) => each.tableName === tableName && (each._schema || ownSchema) === (schema || ownSchema),
  );
  return model === undefined ? [] : keysOf(model);
}

/** Whether rows of a `bulkCreate()` with an include would refer to rows whose keys are not known then. */
function hasReferringRows(
  model: Model,
  options: CallOptions & { readonly parent?: CallOptions; as?: string },
): boolean {
  // The row of a join table comes after its key is read back.
  const below = (options.include as readonly { readonly _pseudo?: boolean }[] | undefined) ?? [];
  if (below.some(({ _pseudo }) => _pseudo !== true) && isReadBack(model, options)) return true;
  const above = options.parent?.model?.associations[options.as!]?.associationType ?? '';
  return options.ignoreDuplicates === true && above.startsWith('BelongsTo');
}

/** Options of an insert that leave an existing row its keys: see the rule of upserts. */
function updatingNoKey(
  keys: readonly Key[],
  by: 'name' | 'field',
  options: CallOptions | undefined,
): CallOptions | undefined {
  const updates = options?.updateOnDuplicate;
  if (updates === undefined || keys.length === 0) return options;
  // Most databases ignore the case of names.
  const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
  const updateOnDuplicate = updates.filter((each) => !keys.some((key) => isSame(key[by], each)));
  if (updateOnDuplicate.length === 0) throw refused(keys[0]!, 'rewritten');
  return { ...options, updateOnDuplicate };
}

/**
 * Copies of rows with their IDs. They are named by attribute or by column.
 * @param isTaken whether the ID that a row has stays
 */
export async function withIds(
  keys: readonly Key[],
  given: readonly Row[],
  by: 'name' | 'field',
  isTaken: (name: string) => boolean = () => true,
): Promise<Row[]> {
  // With a place for the key: V8 needs 3 ms more for 1,000 rows that get one later.
  const rows = given.map((each) => keys.reduce<Row>((row, { [by]: name }) => ({ [name]: undefined, ...row }), each));
  for (const { [by]: name, type } of keys) {
    const without = rows.filter((row) => row[name] == null || !isTaken(name));
    if (without.length === 0) continue;
    const ids = await type.keys.takeWaiting(without.length);
    without.forEach((row, at) => (row[name] = ids[at]));
  }
  return rows;
}

/** Copies of rows as the database has them, by column, with their IDs. */
async function withColumns(keys: readonly Key[], given: readonly Row[]): Promise<Row[]> {
  const rows = await withIds(keys, given, 'field');
  for (const { field, type } of keys)
    for (const row of rows) if (isId(row[field])) row[field] = type.stringify(row[field]);
  return rows;
}

const REFUSALS: Readonly<
  Record<'withoutKey' | 'rewritten' | 'ignoredParent' | 'nothingUnique', readonly [why: InsertRefusal, wayOut: string]>
> = {
  withoutKey: [
    'unfilled',
    'has no value in a create() or bulkCreate(): a hook has taken it out of the fields, or an include has it as null. ' +
      'Leave it in.',
  ],
  rewritten: [
    'key-update',
    'is all that the upsert updates: an existing row would get the ID of the one that was not inserted. Name other ' +
      'attributes, or use ignoreDuplicates.',
  ],
  ignoredParent: [
    'unfilled',
    'is not known for rows that were there, so that rows of an include would refer to none. Insert these in a second step.',
  ],
  nothingUnique: [
    'no-conflict',
    'is new, and nothing else in the row is unique, so that no existing row would be found. Declare what is unique in the ' +
      'model (unique: true, or indexes), give it a value, or use create().',
  ],
};

export function refused({ place }: Key, what: keyof typeof REFUSALS): InsertRefusedError {
  return new InsertRefusedError(place, ...REFUSALS[what]);
}
