/** The associations of models: the foreign key of a typed ID has the form of the key to which it refers. */

import { ConfigurationError } from '@raindrop/core';
import type { Model, Sequelize } from './internals.js';
import { SnowflakeType } from './key.js';

const METHODS = ['hasMany', 'hasOne', 'belongsTo', 'belongsToMany'] as const;

interface Association {
  readonly associationType: string;
  readonly source: Model;
  readonly target: Model;
  readonly foreignKey: string;
  readonly sourceKey?: string;
  readonly targetKey?: string;
  /** Those of `belongsToMany()`. */
  readonly otherKey?: string;
  readonly through?: { readonly model: Model };
}

type Associating = Record<(typeof METHODS)[number], (this: Model, ...given: unknown[]) => Association>;

/**
 * Lets the model's associations throw where a foreign key cannot hold the typed IDs of its key. Sequelize compares such
 * columns as they are: it joins no rows, and SQLite stores the text in a column of integers.
 */
export function guardAssociations(model: Model): void {
  const methods = model as Model & Associating;
  for (const name of METHODS) {
    const associate = methods[name];
    methods[name] = function (...given) {
      const association = associate.apply(this, given);
      const references = referencesOf(association);
      references.forEach(assertSameForm);
      // This one may have given a declared foreign key another type.
      if (name === 'belongsToMany') othersOf(references, this.sequelize).forEach(assertSameForm);
      return association;
    };
  }
}

interface Reference {
  /** With the foreign key. */
  readonly model: Model;
  readonly foreignKey: string;
  readonly to: Model;
  readonly key: string | undefined;
}

/** The references of all associations by the same foreign keys. */
function othersOf(references: readonly Reference[], { models }: Sequelize): Reference[] {
  const all = Object.values(models).flatMap(
    ({ associations }) => Object.values(associations) as unknown as Association[],
  );
  const isSame = (one: Reference, other: Reference): boolean =>
    one.model === other.model && one.foreignKey === other.foreignKey;
  return all.flatMap(referencesOf).filter((other) => references.some((one) => isSame(one, other)));
}

function referencesOf({ associationType, source, target, through, ...keys }: Association): Reference[] {
  const { foreignKey, otherKey, sourceKey, targetKey } = keys;
  if (associationType === 'BelongsTo') return [{ model: source, foreignKey, to: target, key: targetKey }];
  if (through === undefined) return [{ model: target, foreignKey, to: source, key: sourceKey }];
  return [
    { model: through.model, foreignKey, to: source, key: sourceKey },
    { model: through.model, foreignKey: otherKey!, to: target, key: targetKey },
  ];
}

/** @throws ConfigurationError when one of both has another prefix, or none */
function assertSameForm({ model, foreignKey, to, key }: Reference): void {
  const column = model.rawAttributes[foreignKey];
  const expected = prefixOf(to, key);
  const prefix = prefixOf(model, foreignKey);
  if (prefix === expected) return;
  const name = `${to.name}.${key}`;
  const wayOut =
    expected === undefined
      ? 'Declare it as snowflakeReference(), without `prefix`'
      : `Declare it as snowflakeReference({ prefix: '${expected}' })`;
  const message =
    `refers to ${name}, whose IDs have ${expected === undefined ? 'no prefix' : `the prefix '${expected}'`}: no row would ` +
    `be found. ${wayOut}. A column for the IDs of several models, such as ownerType and ownerId, can hold no typed ` +
    'IDs: leave `prefix` out of their keys, or declare a foreign key for each model';
  const given = `prefix '${prefix ?? expected}' in ${model.tableName}.${column?.field ?? foreignKey}`;
  throw new ConfigurationError([{ option: `${model.name}.${foreignKey}`, given, message }]);
}

function prefixOf({ rawAttributes }: Model, name: string | undefined): string | undefined {
  const type = name === undefined ? undefined : rawAttributes[name]?.type;
  return type instanceof SnowflakeType ? type.keys.form.prefix : undefined;
}
