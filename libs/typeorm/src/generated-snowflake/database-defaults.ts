import { type DataSource, type EntityMetadata, getMetadataArgsStorage } from 'typeorm';
import { EntityMetadataValidator } from 'typeorm/metadata-builder/EntityMetadataValidator.js';
import {
  callOf,
  dialectOf,
  foundSql,
  hasIdFunction,
  type IdFunction,
  isCallOf,
  isSupportedDatabase,
  placedFunctions,
} from '@raindrop/node/internal';
import { dataSourceOf } from '../connection/data-source-of.js';
import { markOfColumn } from './generated-column.js';
import type { ColumnMetadata } from './patches.js';
import { UnsupportedColumnError } from './snowflake-errors.js';

const INSTALLED = Symbol.for('@raindrop/typeorm:database-defaults');

/** The used part of the class that checks the entities of a DataSource which is being initialised. */
interface Validator {
  validateMany: (this: Validator, metadatas: EntityMetadata[], driver: Driver) => void;
  [INSTALLED]?: true;
}

/** What compares entities with tables: `build` for `synchronize`, `log` for `migration:generate`. */
interface SchemaBuilder {
  readonly dataSource: DataSource;
  build: () => Promise<unknown>;
  log: () => Promise<unknown>;
}

/** The used part of a driver. */
interface Driver extends Pick<DataSource['driver'], 'options'> {
  createSchemaBuilder?: () => SchemaBuilder;
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

/** @throws UnsupportedColumnError on a database without such a function, and for columns of single-table children */
function prepareDefaults(metadatas: readonly EntityMetadata[], driver: Driver): void {
  refuseChildren(metadatas);
  const columns = new Set(metadatas.flatMap((metadata) => metadata.columns));
  const declared = [...columns].filter((column) => declareDefault(column));
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

/** Kept beside the mark: a column has the default once a DataSource has declared it. */
const FUNCTION = Symbol.for('@raindrop/typeorm:database-default');

type DeclaredColumn = ColumnMetadata & { [FUNCTION]?: IdFunction };

/** The function in a column's `databaseDefault`, once the DataSource knows its entities. */
export function databaseDefaultOf(column: ColumnMetadata): IdFunction | undefined {
  return (column as DeclaredColumn)[FUNCTION];
}

/**
 * Sets the default of the column in TypeORM's metadata. In the options of the column TypeORM would copy it: a class that
 * declares its parent's key anew would give the default to all other children of the parent.
 * @returns whether the column has one
 */
function declareDefault(column: ColumnMetadata): boolean {
  const databaseDefault = markOfColumn(column)?.databaseDefault;
  if (databaseDefault === undefined) return false;
  (column as DeclaredColumn)[FUNCTION] = databaseDefault;
  column.default = () => callOf(databaseDefault);
  return true;
}

/**
 * Refuses the option on columns of single-table children, embedded objects included. All rows of the table have the column,
 * and TypeORM leaves it out of those of the parent and of siblings.
 * @throws UnsupportedColumnError
 */
function refuseChildren(metadatas: readonly EntityMetadata[]): void {
  const { embeddeds } = getMetadataArgsStorage();
  const isDeclared = (column: ColumnMetadata): boolean => markOfColumn(column)?.databaseDefault !== undefined;
  const places = metadatas.flatMap((metadata) => {
    if (metadata.inheritancePattern !== 'STI' || metadata.tableType === 'entity-child') return [];
    const own = classesOf(metadata.target);
    // The parent's table has the columns of every child, also of those that the DataSource does not name.
    const isOfChild = (target: unknown): boolean =>
      metadata.inheritanceTree.includes(target as never) && !own.includes(target);
    const declared = metadata.ownColumns.filter((column) => isOfChild(column.target) && isDeclared(column));
    const held = embeddeds.filter(
      ({ target, propertyName }) =>
        isOfChild(target) &&
        metadata.embeddeds.some((each) => each.propertyName === propertyName && each.columnsFromTree.some(isDeclared)),
    );
    return [...declared, ...held].map(
      ({ target, propertyName }) => `${(target as { name: string }).name}.${propertyName}`,
    );
  });
  if (places.length === 0) return;
  throw new UnsupportedColumnError(
    places.join(', '),
    'databaseDefault is not for columns of a child in single-table inheritance: rows of the parent and of siblings are in ' +
      'the same table, and the database would give them an ID in this column too. Remove it; or declare the key with ' +
      'databaseDefault in the parent alone',
  );
}

/**
 * Replaces the driver's `defaultEqual`. TypeORM compares the text that an entity declares, in lower case, with the one that
 * PostgreSQL reports, which has no schema that the search path finds. Each `synchronize` would set the default of
 * `shop.next_id` anew. Which schemas the path finds is asked before tables are compared.
 */
function compareCalls(driver: Driver): void {
  const { createSchemaBuilder, defaultEqual } = driver;
  if (driver[INSTALLED] === true || createSchemaBuilder === undefined || defaultEqual === undefined) return;
  Object.defineProperty(driver, INSTALLED, { value: true });
  let found: ReadonlySet<string> = new Set();
  driver.createSchemaBuilder = () => {
    const builder = createSchemaBuilder.call(driver);
    const dataSource = dataSourceOf(builder);
    for (const name of ['build', 'log'] as const) {
      const run = builder[name].bind(builder);
      builder[name] = async () => {
        const columns = dataSource.entityMetadatas.flatMap((metadata) => metadata.columns);
        found = await foundFunctions(columns.map(databaseDefaultOf), (sql) => dataSource.query(sql));
        return run();
      };
    }
    return builder;
  };
  driver.defaultEqual = (declared, real) => {
    const idFunction = databaseDefaultOf(declared);
    if (idFunction === undefined || typeof real.default !== 'string') return defaultEqual.call(driver, declared, real);
    return isCallOf(idFunction, real.default, found.has(callOf(idFunction)));
  };
}

/**
 * Asks PostgreSQL which of these functions the search path of the connection finds by their names alone.
 * @returns their calls
 */
export async function foundFunctions(
  declared: readonly (IdFunction | undefined)[],
  query: (sql: string, parameters: unknown[]) => Promise<unknown>,
): Promise<ReadonlySet<string>> {
  const placed = [...placedFunctions(declared)];
  if (placed.length === 0) return new Set();
  const columns = placed.map(([, each], at) => `${foundSql(each)} AS found${at}`);
  const [row] = (await query(`SELECT ${columns.join(', ')}`, [])) as [Readonly<Record<string, unknown>>];
  return new Set(placed.flatMap(([call], at) => (Number(row[`found${at}`]) === 1 ? [call] : [])));
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

/** A class and those that it extends; none for an `EntitySchema` without one. */
export function classesOf(target: unknown): unknown[] {
  return typeof target === 'function' ? [target, ...classesOf(Object.getPrototypeOf(target))] : [];
}
