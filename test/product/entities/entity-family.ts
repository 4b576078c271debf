import 'reflect-metadata';
import type { EntitySchemaColumnOptions } from 'typeorm';
import type { GeneratedSnowflakeOptions } from '../../../libs/typeorm/src/generated-snowflake/generated-snowflake.decorator.js';

/** Declares the generated columns of a family. */
export interface ColumnMaker {
  /** The decorator. */
  generated(options?: GeneratedSnowflakeOptions): PropertyDecorator;
  /** The same for an `EntitySchema`. */
  schemaColumn(options?: GeneratedSnowflakeOptions): EntitySchemaColumnOptions;
  /** The type of foreign keys that are declared as columns. */
  readonly keyType: 'bigint' | 'int';
}

/** Entities that share a DataSource: when one of them is refused at start, all of them are. */
export interface EntityFamily<T extends object = object> {
  readonly name: string;
  /** The entities by name, anew, with generated columns of this make. */
  build(make: ColumnMaker): T;
}

export function entityFamily<T extends object>(name: string, build: (make: ColumnMaker) => T): EntityFamily<T> {
  return { name, build };
}
