import type { DataSource, EntityMetadata } from 'typeorm';
import { EntityMetadataValidator } from 'typeorm/metadata-builder/EntityMetadataValidator.js';
import { dialectOf, hasIdFunction, type IdFunction, isCallOf, isSupportedDatabase } from '@raindrop/node/internal';
import { markOfColumn } from './generated-column.js';
import type { ColumnMetadata } from './patches.js';
import { UnsupportedColumnError } from './snowflake-errors.js';

const INSTALLED = Symbol.for('@raindrop/typeorm:database-defaults');

/** The used part of the class that checks the entities of a DataSource which is being initialised. */
interface Validator {
  validateMany: (this: Validator, metadatas: EntityMetadata[], driver: Driver) => void;
  [INSTALLED]?: true;
}

/** The used part of a driver. */
interface Driver extends Pick<DataSource['driver'], 'options'> {
  /** The connection's own schema, on PostgreSQL. */
  readonly searchSchema?: string;
  /** Whether a column has the default that its entity declares, on PostgreSQL. */
  defaultEqual?: (declared: ColumnMetadata, real: { readonly default?: unknown }) => boolean;
  [INSTALLED]?: true;
}

/**
 * Replaces `EntityMetadataValidator.validateMany`, which every `initialize()` calls once the entities are known, also that
 * of `typeorm migration:generate`: columns with `databaseDefault` are refused on databases without such a function, and
 * TypeORM treats their default as part of the table only.
 *
 * The declaration of a column calls this: `initialize()` synchronizes before any service can be attached.
 */
export function guardDefaults(): void {
  const validators = EntityMetadataValidator.prototype as unknown as Validator;
  if (validators[INSTALLED] === true) return;
  Object.defineProperty(validators, INSTALLED, { value: true });
  const { validateMany } = validators;
  validators.validateMany = function (metadatas, driver) {
    prepareDefaults(metadatas, driver);
    return validateMany.call(this, metadatas, driver);
  };
}

/** @throws UnsupportedColumnError on a database without such a function */
function prepareDefaults(metadatas: readonly EntityMetadata[], driver: Driver): void {
  const columns = new Set(metadatas.flatMap((metadata) => metadata.columns));
  const declared = [...columns].filter((column) => databaseDefaultOf(column) !== undefined);
  if (declared.length === 0) return;
  const { type } = driver.options;
  if (!isSupportedDatabase(type) || !hasIdFunction(dialectOf(type))) {
    const places = declared.map(({ entityMetadata, propertyPath }) => `${entityMetadata.name}.${propertyPath}`);
    throw new UnsupportedColumnError(
      places.join(', '),
      `databaseDefault is for PostgreSQL, where raindrop sql --issue makes the function, and the DataSource's type is ` +
        `'${type}'. Remove it: an insert of an entity gets its ID in the process. For entities of several databases let ` +
        'a variable decide: databaseDefault: isPostgres',
    );
  }
  compareCalls(driver);
  for (const metadata of metadatas) returnNoDefaults(metadata);
}

/** The function in a column's `databaseDefault`. */
export function databaseDefaultOf(column: ColumnMetadata): IdFunction | undefined {
  return markOfColumn(column)?.databaseDefault;
}

/**
 * Replaces the driver's `defaultEqual`. TypeORM compares the text that an entity declares, in lower case, with the one that
 * PostgreSQL reports, which has no schema that the search path finds. Each `synchronize` would set the default of
 * `shop.next_id` anew.
 */
function compareCalls(driver: Driver): void {
  const { defaultEqual } = driver;
  if (driver[INSTALLED] === true || defaultEqual === undefined) return;
  Object.defineProperty(driver, INSTALLED, { value: true });
  driver.defaultEqual = (declared, real) => {
    const idFunction = databaseDefaultOf(declared);
    if (idFunction === undefined || typeof real.default !== 'string') return defaultEqual.call(driver, declared, real);
    return isCallOf(idFunction, real.default, driver.searchSchema);
  };
}

/**
 * Replaces an entity's `getInsertionReturningColumns`. TypeORM reads a column that has a default back after each insert. A
 * row that `orIgnore()` leaves out is not in the answer: the next row's ID would be that of its object. The process has made
 * the ID, and knows it.
 */
function returnNoDefaults(metadata: EntityMetadata): void {
  if (Object.hasOwn(metadata, 'getInsertionReturningColumns')) return;
  if (metadata.columns.every((column) => databaseDefaultOf(column) === undefined)) return;
  const returning = metadata.getInsertionReturningColumns.bind(metadata);
  metadata.getInsertionReturningColumns = () => returning().filter((column) => databaseDefaultOf(column) === undefined);
}
