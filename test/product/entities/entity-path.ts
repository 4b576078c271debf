import type { DataSource, EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import type { EntityFamily } from './entity-family.js';
import type { PropertyForm } from './property-form.js';
import type { StatementLog } from './statement-log.js';

/** What a path has to work with. */
export interface PathSetting<T> {
  readonly dataSource: DataSource;
  readonly manager: EntityManager;
  readonly entities: T;
  readonly form: PropertyForm;
  readonly statements: StatementLog;
}

/** These objects, and no others, are the rows that the path has left in their table. */
export interface RowsClaim {
  readonly entity: EntityTarget<ObjectLiteral>;
  readonly objects: readonly object[];
  /** The generated property, `a.b` in an embedded object. */
  readonly property: string;
}

/** The foreign keys of a relation, as pairs of the objects on its owning and its inverse side. */
export interface LinksClaim {
  readonly entity: EntityTarget<ObjectLiteral>;
  readonly relation: string;
  readonly pairs: readonly (readonly [owner: object, inverse: object | null])[];
}

export type Claim = RowsClaim | LinksClaim;

/** A way to bring rows into the database, or to get at them by their IDs. */
export interface EntityPath<T = never> {
  readonly family: EntityFamily;
  readonly name: string;
  run(setting: PathSetting<T>): Promise<readonly Claim[]>;
}

export function rows(entity: EntityTarget<ObjectLiteral>, objects: readonly object[], property = 'id'): RowsClaim {
  return { entity, objects, property };
}

export function links(entity: EntityTarget<ObjectLiteral>, relation: string, pairs: LinksClaim['pairs']): LinksClaim {
  return { entity, relation, pairs };
}

type Entities<F> = F extends EntityFamily<infer T> ? T : never;

/** Paths of one family, in the order of the printed table. */
export function pathsOf<F extends EntityFamily>(
  family: F,
  paths: Readonly<Record<string, EntityPath<Entities<F>>['run']>>,
): readonly EntityPath[] {
  return Object.entries(paths).map(([name, run]) => ({ family, name, run }));
}
