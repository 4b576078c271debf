import type { DataSource, EntityMetadata } from 'typeorm';

/** TypeORM exports the class under no name that both its versions share. */
export type ColumnMetadata = EntityMetadata['columns'][number];

/** How the values of one column are written, and what the property holds of what was read. */
export interface ColumnValues {
  write(value: unknown): unknown;
  read(value: unknown): unknown;
}

const INSTALLED = Symbol.for('@raindrop/nestjs:column-values');

type Driver = Pick<DataSource['driver'], 'preparePersistentValue' | 'prepareHydratedValue'> & {
  [INSTALLED]?: WeakMap<ColumnMetadata, ColumnValues>;
};

/**
 * The columns of a driver whose values are converted by us: where TypeORM writes and reads a column, and nowhere else.
 *
 * A column's `transformer` would do more than that. With one on the key, TypeORM looks rows up by
 * `(id = ?) OR (id = ?) ...` instead of `id IN (...)`: slow, and beyond 1,000 rows an error on SQLite. It also sees
 * values after the driver's `String(value)`, when a rounded number can no longer be told.
 */
export function columnValuesOf(driver: Driver): WeakMap<ColumnMetadata, ColumnValues> {
  const present = driver[INSTALLED];
  if (present !== undefined) return present;
  const columns = new WeakMap<ColumnMetadata, ColumnValues>();
  const write = driver.preparePersistentValue.bind(driver);
  const read = driver.prepareHydratedValue.bind(driver);
  Object.defineProperty(driver, INSTALLED, { value: columns });
  driver.preparePersistentValue = (value: unknown, column) => {
    const values = columns.get(column);
    return write(values === undefined ? value : values.write(value), column) as unknown;
  };
  driver.prepareHydratedValue = (value: unknown, column: ColumnMetadata) => {
    const values = columns.get(column);
    return values === undefined ? (read(value, column) as unknown) : values.read(value);
  };
  return columns;
}
