import type { DataSource, EntityMetadata } from 'typeorm';

/** TypeORM exports the class under no name that both its versions share. */
export type ColumnMetadata = EntityMetadata['columns'][number];

/** How the values of one column are written, and what the property holds of what was read. */
export interface ColumnValues {
  write(value: unknown): unknown;
  read(value: unknown): unknown;
}

/** Registered, so that a second copy of this package in one application knows them. */
const INSTALLED = Symbol.for('@raindrop/nestjs:column-values');
const VALUES = Symbol.for('@raindrop/nestjs:values-of-column');

type Driver = Pick<DataSource['driver'], 'preparePersistentValue' | 'prepareHydratedValue'> & { [INSTALLED]?: true };

/** It stands at the column itself: every value of every column passes here, and a look into a map takes 20 ns. */
type Column = ColumnMetadata & { [VALUES]?: ColumnValues };

/**
 * Has a column's values converted by us: where TypeORM writes and reads it, and nowhere else.
 *
 * A column's `transformer` would do more than that. With one on the key, TypeORM looks rows up by
 * `(id = ?) OR (id = ?) ...` instead of `id IN (...)`: slow, and beyond 1,000 rows an error on SQLite. It also sees
 * values after the driver's `String(value)`, when a rounded number can no longer be told.
 * @returns undoes it
 */
export function convertValues(driver: Driver, column: Column, values: ColumnValues): () => void {
  install(driver);
  column[VALUES] = values;
  return () => delete column[VALUES];
}

function install(driver: Driver): void {
  if (driver[INSTALLED] === true) return;
  const write = driver.preparePersistentValue.bind(driver);
  const read = driver.prepareHydratedValue.bind(driver);
  Object.defineProperty(driver, INSTALLED, { value: true });
  driver.preparePersistentValue = (value: unknown, column: Column) => {
    const values = column[VALUES];
    return write(values === undefined ? value : values.write(value), column) as unknown;
  };
  driver.prepareHydratedValue = (value: unknown, column: Column) => {
    const values = column[VALUES];
    return values === undefined ? (read(value, column) as unknown) : values.read(value);
  };
}
