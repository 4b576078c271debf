/** The declarations of entities when the ORM starts: what is refused because its rows could not be written, or not be found. */

import { ConfigurationError } from '@raindrop/core';
import type { Database } from '../databases.js';
import { keysOf, type Meta } from './key.js';

export type AllMeta = ReadonlyMap<unknown, Meta> | Readonly<Record<string, Meta>>;

type Problem = ConstructorParameters<typeof ConfigurationError>[0][number];

const CHECKED = new WeakSet<AllMeta>();

/** @throws ConfigurationError for each declaration whose rows could not be written or found */
export function checkDeclarations(all: AllMeta, database: Database): void {
  if (CHECKED.has(all)) return;
  const metas =
    all instanceof Map
      ? [...(all as ReadonlyMap<unknown, Meta>).values()]
      : Object.values(all as Readonly<Record<string, Meta>>);
  const problems = metas.flatMap((meta) => [
    ...pivotsWithKey(meta, metas),
    ...typedParts(meta),
    ...typedOwners(meta),
    ...defaults(meta, database),
  ]);
  if (problems.length > 0) throw new ConfigurationError(problems);
  metas.forEach(compareOwners);
  CHECKED.add(all);
}

/**
 * A collection writes the rows of its pivot entity past our manager, and knows their foreign keys alone: a key of ours is
 * null then, or 0 on a MariaDB without strict mode.
 */
function pivotsWithKey({ tableName, properties }: Meta, metas: readonly Meta[]): Problem[] {
  return Object.entries(properties).flatMap(([name, { kind, persist, pivotEntity }]) => {
    const pivot = metas.find((each) => pivotEntity !== undefined && [each.class, each.className].includes(pivotEntity));
    if (kind !== 'm:n' || persist === false || keysOf(pivot).length === 0) return [];
    return [{ option: `${tableName}.${name}`, given: pivot!.tableName, message: PIVOT }];
  });
}

const PIVOT =
  'has a key of its own, which the collection would leave null. Add `persist: false` to the collection, also to its ' +
  'inverse side, and create the rows: em.create(PivotEntity, { ... }). Or let the foreign keys be the primary key of the ' +
  'pivot entity';

/**
 * MikroORM converts no part of a composite key in a foreign key, in `nativeUpdate()` and where it reads rows back. A typed
 * ID is then compared with the number in the database: no row is found, and SQLite stores the text.
 */
function typedParts({ tableName, properties }: Meta): Problem[] {
  const parts = Object.entries(properties).filter(([, { primary }]) => primary === true);
  // A table that MikroORM makes for a collection: only the collection reads and writes it.
  const isOfCollection = parts.some(([name]) => /_(owner|inverse)$/.test(name));
  if (parts.length < 2 || isOfCollection) return [];
  return parts.flatMap(([name, { fieldNames, targetMeta, customType }]) => {
    const typed = targetMeta === undefined ? customType?.keys?.form.prefix : prefixOf(targetMeta);
    if (typed === undefined) return [];
    return [{ option: `${tableName}.${name}`, given: placed(typed, tableName, fieldNames), message: COMPOSITE }];
  });
}

const COMPOSITE =
  'is a typed ID in a composite primary key, in which MikroORM does not convert it everywhere: rows would not be found. ' +
  'Give the entity a key of its own and make the properties unique together, or leave `prefix` out of the keys';

/** MikroORM converts the IDs of a polymorphic relation in no condition but by the key of its first entity. */
function typedOwners({ tableName, properties }: Meta): Problem[] {
  return Object.entries(properties).flatMap(([name, { fieldNames, polymorphTargets = [] }]) => {
    const typed = polymorphTargets.map(prefixOf).find((prefix) => prefix !== undefined);
    if (typed === undefined) return [];
    return [{ option: `${tableName}.${name}`, given: placed(typed, tableName, fieldNames), message: POLYMORPHIC }];
  });
}

const POLYMORPHIC =
  'is a polymorphic relation to typed IDs, which MikroORM does not convert in conditions. Leave `prefix` out of the keys of ' +
  'its entities, or declare a relation for each of them';

/**
 * In a condition on a polymorphic relation MikroORM converts the name of the entity as if it were an ID: `owner_type =
 * 'users'` was an InvalidIdError. Without a type it compares the ID as the entity has it, which databases do exactly.
 */
function compareOwners({ properties }: Meta): void {
  for (const prop of Object.values(properties)) {
    const isOurs = prop.polymorphTargets?.some((target) => keysOf(target).length > 0) === true;
    if (isOurs && prop.kind !== 'm:n') delete (prop as { customType?: unknown }).customType;
  }
}

/** Keys with a default that the database does not have. */
function defaults(meta: Meta, database: Database): Problem[] {
  return keysOf(meta).flatMap(({ place, customType }) => customType.keys.defaultProblem(database, place) ?? []);
}

/** The prefix of the entity's key. */
function prefixOf(meta: Meta): string | undefined {
  return keysOf(meta).find((key) => key.customType.keys.form.prefix !== undefined)?.customType.keys.form.prefix;
}

function placed(prefix: string, table: string, columns: readonly string[] | undefined): string {
  return `prefix '${prefix}' in ${table}.${columns?.join(', ')}`;
}

/** Whether the IDs of the entity have a prefix. */
export function isTyped(meta: Meta): boolean {
  return prefixOf(meta) !== undefined;
}
