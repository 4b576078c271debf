/** Rows that were there before an insert: which key they have, and how they are found. */

import { Op } from 'sequelize';
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
  return model.sequelize.getDialect() === 'postgres' && returning === true;
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
