/** Rows that were there before an insert: which key they have, and how they are found. */

import { Op } from 'sequelize';
import { dialectNamed } from './dialects.js';
import type { CallOptions, Instance, Model, Row } from './internals.js';
import { type Key, keysOf } from './key.js';

/** Whether rows of a bulk insert may have been there, so that their keys must be read back afterwards. */
export function isReadBack(
  model: Model,
  { ignoreDuplicates, updateOnDuplicate, returning = true }: CallOptions,
): boolean {
  return ignoreDuplicates === true || (updateOnDuplicate !== undefined && !isTold(model, { returning }));
}

/** Whether Sequelize itself reads back the keys of the rows that were there. */
export function isTold(model: Model, { returning }: CallOptions): boolean {
  return dialectNamed(model.sequelize.getDialect()).returnsFoundRows && returning === true;
}

/** Gives the instances of a bulk insert the keys of their rows, and those that were ignored none. */
export async function settle(instances: readonly Instance[], options: CallOptions): Promise<void> {
  const model = options.model!;
  const keys = keysOf(model);
  if (keys.length > 0 && isReadBack(model, options)) await readBack(model, keys, instances, options);
}

export async function readBack(
  model: Model,
  keys: readonly Key[],
  instances: readonly Instance[],
  options: CallOptions,
): Promise<void> {
  const [key] = keys as [Key];
  const idOf = (row: Row): string => String(key.type.stringify(row[key.name]));
  const find: Find = (where, more, names = []) => {
    const { transaction, logging, searchPath } = options;
    const attributes = [...new Set([...keys.map(({ name }) => name), ...names])];
    // A replica may not have the rows yet.
    const past = { useMaster: true, paranoid: false, hooks: false, raw: true };
    return model.unscoped().findAll({ where, attributes, ...past, transaction, logging, searchPath, ...more });
  };
  const tell = (instance: Instance, row: Row): void => {
    for (const { name } of keys) instance.dataValues[name] = instance._previousDataValues[name] = row[name] ?? null;
  };
  const byKey = await find({ [key.name]: instances.map(({ dataValues }) => idOf(dataValues)) });
  const rows = new Map(byKey.map((row) => [idOf(row), row]));
  // Of several keys, a row that was there has others.
  const others = instances.filter((instance) => {
    const row = rows.get(idOf(instance.dataValues));
    if (row !== undefined && keys.length > 1) tell(instance, row);
    return row === undefined;
  });
  const isIgnoring = options.ignoreDuplicates === true;
  const sought = others.map((instance) => ({
    instance,
    uniques: isIgnoring ? [] : uniquesIn(model, instance, options),
  }));
  const met = await metBy(
    sought.flatMap(({ uniques }) => uniques),
    find,
  );
  for (const { instance, uniques } of sought) {
    let found = met(uniques);
    // The database compares texts as its collation says. Locked, a transaction finds also what was committed after it began.
    if (found === undefined && uniques.length > 0) found = await find({ [Op.or]: uniques }, { lock: true, limit: 2 });
    tell(instance, found?.length === 1 ? found[0]! : {});
    instance.isNewRecord = found?.length !== 1;
  }
}

type Find = (where: object, more?: object, attributes?: readonly string[]) => Promise<Row[]>;

/** SQLite evaluates no expression that is deeper than 1,000. */
const CONDITIONS = 500;

/**
 * Reads the rows that unique values meet, in one statement for many.
 * @returns the row that has all values of some conditions, alone in an array; undefined where they are not compared here
 */
async function metBy(conditions: readonly Row[], find: Find): Promise<(uniques: readonly Row[]) => Row[] | undefined> {
  const rows = new Map<string, Row>();
  for (let at = 0; at < conditions.length; at += CONDITIONS) {
    const some = conditions.slice(at, at + CONDITIONS);
    const sets = new Map(some.map((each) => [Object.keys(each).join(), Object.keys(each)]));
    for (const row of await find({ [Op.or]: some }, { lock: true }, [...sets.values()].flat())) {
      for (const names of sets.values()) rows.set(textOf(row, names), row);
    }
  }
  return (uniques) => {
    const [row, ...others] = new Set(uniques.map((each) => rows.get(textOf(each, Object.keys(each)))));
    return row === undefined || others.length > 0 ? undefined : [row];
  };
}

/** The same text means the same values. A database may show a value in another form. */
function textOf(row: Row, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => [name, String(row[name])]));
}

/**
 * The columns of the constraint by which PostgreSQL and SQLite shall find an existing row. Sequelize takes one by the order
 * in which the model declares them, also one with a key that was made for this row: no row has it, and the database
 * refuses the value of another constraint.
 * @param chosen what Sequelize takes
 * @param made the keys that were made for the rows
 * @param sets the attributes of constraints whose values the rows have
 * @returns undefined where Sequelize's choice is right
 */
export function conflictColumns(
  { primaryKeys, rawAttributes }: Model,
  chosen: readonly unknown[],
  made: readonly Key[],
  sets: readonly (readonly string[])[],
): string[] | undefined {
  const columns = chosen.map(nameOf);
  if (!made.some(({ field }) => columns.includes(field))) return undefined;
  return (sets[0] ?? Object.keys(primaryKeys)).map((name) => rawAttributes[name]!.field ?? name);
}

/** The columns that Sequelize takes for a `bulkCreate()`. */
export function chosenForBulk({ uniqueKeys, _indexes, primaryKeys }: Model): readonly unknown[] {
  const indexed = _indexes.flatMap(({ unique, where, fields }) => (unique === true && !where ? fields : []));
  const first = Object.values(uniqueKeys).find(({ fields }) => fields.length > 0);
  const fields = [...indexed, ...(first?.fields ?? [])];
  return fields.length > 0 ? fields : Object.values(primaryKeys).map(({ field }) => field);
}

/** The columns that Sequelize takes for an `upsert()` which updates these. */
export function chosenForUpsert({ uniqueKeys, _indexes, primaryKeys }: Model, updates: readonly string[]): string[] {
  const primary = Object.values(primaryKeys).map(({ field }) => field);
  if (updates.some((field) => primary.includes(field))) return primary;
  const sets = [...Object.values(uniqueKeys), ..._indexes.filter(({ unique }) => unique === true)];
  const found = updates.flatMap((field) => sets.find(({ fields }) => (fields as unknown[]).includes(field)) ?? []);
  return found[0]?.fields.map(nameOf) ?? primary;
}

/** Conditions by which the existing row of an instance is found: one for each unique constraint. */
export function uniquesIn(model: Model, instance: Instance, options: CallOptions): Row[] {
  const { dataValues: values } = instance;
  // A number that the database counts is guessed by Sequelize.
  const isKnown = (name: string): boolean =>
    values[name] != null && (name !== model.autoIncrementAttribute || instance.changed(name));
  return uniqueSets(model, options).flatMap((names) =>
    names.every(isKnown) ? [Object.fromEntries(names.map((name) => [name, values[name]]))] : [],
  );
}

/** The attributes of each unique constraint that the model declares, but for those with a key of ours. */
export function uniqueSets(model: Model, { conflictFields, conflictAttributes }: CallOptions): string[][] {
  const { uniqueKeys, _indexes, primaryKeys, fieldRawAttributesMap, rawAttributes } = model;
  const sets: (readonly unknown[])[] = [
    conflictFields ?? conflictAttributes ?? [],
    Object.keys(primaryKeys),
    ...Object.values(uniqueKeys).map(({ fields }) => fields),
    ..._indexes.filter(({ unique, where }) => unique === true && where === undefined).map(({ fields }) => fields),
  ];
  const ours = new Set(keysOf(model).map(({ name }) => name));
  const named = sets
    .map((fields) => fields.map(nameOf).map((name) => fieldRawAttributesMap[name]?.fieldName ?? name))
    .filter((names) => names.length > 0 && names.every((name) => name in rawAttributes && !ours.has(name)));
  return [...new Map(named.map((names) => [names.join(), names])).values()];
}

/** Of an index, a field may be an object with options. */
function nameOf(field: unknown): string {
  const { name, attribute } = Object(field) as { readonly name?: string; readonly attribute?: string };
  return name ?? attribute ?? String(field);
}
