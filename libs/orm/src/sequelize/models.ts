/** The models of a Sequelize, with IDs for what goes past the defaults of attributes. */

import type { ModelStatic, Options } from 'sequelize';
import { guardAssociations } from './associations.js';
import { chosenForBulk, conflictColumns, isReadBack, settle, uniqueSets } from './existing-rows.js';
import { type CallOptions, GUARDED, type Model, modelOf, type Row } from './internals.js';
import { idsOf, type Key, keysOf, show, SnowflakeType } from './key.js';
import { guardQueries, refused, withIds } from './queries.js';

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

/**
 * Runs when a model is defined. A hook that Sequelize would run later could be left out, by `hooks: false`. It must not
 * throw: Sequelize waits for no hook of this kind.
 */
function guard(given: ModelStatic<never>): void {
  const model = given as unknown as Model;
  const { sequelize, rawAttributes } = model;
  for (const [name, attribute] of Object.entries(rawAttributes)) {
    if (!(attribute.type instanceof SnowflakeType)) continue;
    const type = attribute.type.in(sequelize.getDialect(), `${model.tableName}.${name}`);
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

function guardModel(model: Model): void {
  guardAssociations(model);
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
      if (this.dataValues[name] == null) this.set(name, (await type.keys.takeWaiting(1))[0], { raw: true });
    }
    return save.call(
      this,
      options?.fields === undefined ? options : { ...options, fields: withNames(options.fields, keys) },
    );
  };
  Object.assign(model, {
    [GUARDED]: true,
    async bulkCreate(this: Model, records: readonly Row[], options: CallOptions = {}) {
      const keys = keysOf(this);
      const told = bulkOptions(this, keys, records, options);
      // `fields` leaves out what a record has of others, so also of the keys.
      const isTaken = (name: string): boolean => options.fields?.includes(name) ?? true;
      const instances = await bulkCreate.call(this, await withIds(keys, records, 'name', isTaken), told);
      if (options.hooks === false) await settle(instances, { ...told, model: this });
      return instances;
    },
    upsert(this: Model, values: Row, options?: CallOptions) {
      const given = { ...values };
      for (const { name } of keysOf(this)) if (given[name] == null) delete given[name];
      return upsert.call(this, given, options);
    },
  });
}

function withNames(fields: readonly string[], keys: readonly Key[]): string[] {
  return [...new Set([...fields, ...keys.map(({ name }) => name)])];
}

/** The options of `bulkCreate()` as Sequelize has to be told them. */
function bulkOptions(model: Model, keys: readonly Key[], records: readonly Row[], options: CallOptions): CallOptions {
  const [key] = keys;
  const { fields, updateOnDuplicate, include } = options;
  const told = fields === undefined ? options : { ...options, fields: withNames(fields, keys) };
  if (key === undefined) return told;
  if (hasEntries(include) && isReadBack(model, options)) throw refused(key, 'ignoredParent');
  if (!Array.isArray(updateOnDuplicate)) return told;
  const sets = uniqueSets(model, options);
  const hasValue = (record: Row, name: string): boolean => record[name] != null && (fields?.includes(name) ?? true);
  // A row with its key is found by it, and a row without one is new.
  if (sets.length === 0 && !records.some((record) => hasValue(record, key.name))) throw refused(key, 'nothingUnique');
  if (options.conflictAttributes !== undefined) return told;
  const made = keys.filter(({ name }) => !records.every((record) => hasValue(record, name)));
  const known = sets.filter((names) => records.every((record) => names.every((name) => record[name] != null)));
  const columns = conflictColumns(model, chosenForBulk(model), made, [...known, ...sets]);
  if (columns === undefined) return told;
  const conflictAttributes = columns.map((column) => model.fieldRawAttributesMap[column]?.fieldName ?? column);
  return { ...told, conflictAttributes };
}

function hasEntries(include: unknown): boolean {
  return Array.isArray(include) ? include.length > 0 : include !== undefined;
}
