import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata, ColumnValues } from './column-values.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import { fromDatabase, toDatabase, toProperty } from './snowflake-property.js';
import type { SnowflakeMark } from './snowflake-transformer.js';

/** A marked column of an initialised DataSource. */
export class GeneratedColumn implements ColumnValues {
  readonly code: string | undefined;
  /** `Entity.property`. */
  readonly place: string;
  /** A single-table parent's rows have the columns of its children, always nullable, and leave them empty. */
  private readonly isOptional: boolean;

  constructor(
    readonly column: ColumnMetadata,
    readonly mark: SnowflakeMark,
  ) {
    this.code = mark.code;
    this.place = placeOf(column);
    this.isOptional = !ownsColumn(column.entityMetadata, column);
  }

  /** Null counts as missing, as it does for TypeORM's own generated columns. */
  isSet(entity: object): boolean {
    const value: unknown = this.column.getEntityValue(entity);
    return value !== undefined && value !== null;
  }

  /** Makes a missing embedded object, too. */
  set(entity: object, id: bigint): void {
    this.column.setEntityValue(entity, toProperty(id, this.mark.as, this.place));
  }

  /**
   * @throws SnowflakeNotAssignedError without an ID: MariaDB in a lenient mode would store 0
   * @throws UnsafeSnowflakeError
   */
  write(value: unknown): unknown {
    if (value === undefined ? !this.isOptional : value === null && !this.column.isNullable) {
      throw new SnowflakeNotAssignedError(this.mark.service, this.place);
    }
    return toDatabase(value, this.place);
  }

  /** @throws UnsafeSnowflakeError */
  read(value: unknown): unknown {
    return fromDatabase(value, this.mark.as, this.place);
  }
}

/** A column that holds the ID of a generated one: a foreign key, or part of a junction or closure table. */
export class ReferenceColumn implements ColumnValues {
  private readonly place: string;

  constructor(
    column: ColumnMetadata,
    readonly key: GeneratedColumn,
  ) {
    this.place = placeOf(column);
  }

  write(value: unknown): unknown {
    return toDatabase(value, this.place);
  }

  read(value: unknown): unknown {
    return fromDatabase(value, this.key.mark.as, this.place);
  }
}

/** Whether a row of this very entity has the column: false for a single-table parent and a child's column. */
export function ownsColumn(metadata: EntityMetadata, column: ColumnMetadata): boolean {
  const { target } = metadata;
  if (metadata.inheritancePattern !== 'STI' || column.embeddedMetadata !== undefined) return true;
  if (typeof target !== 'function' || typeof column.target !== 'function') return true;
  return target === column.target || target.prototype instanceof column.target;
}

function placeOf(column: ColumnMetadata): string {
  return `${column.entityMetadata.name}.${column.propertyPath}`;
}
