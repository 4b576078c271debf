import type { DataSource, EntityMetadata } from 'typeorm';
import type { Layout } from '@raindrop/core';
import { IdTransformer, markOf, type SnowflakeMark } from './snowflake-transformer.js';
import { ATTACHED, attachedTransformer, type AttachedTransformer, type ColumnMetadata, isUnset } from './patches.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import { IdForm, type IdValue } from '@raindrop/core/internal';

type EmbeddedMetadata = EntityMetadata['embeddeds'][number];

/** A marked column of an initialised DataSource, and its transformer while a service is attached. */
export class GeneratedColumn extends IdTransformer implements AttachedTransformer {
  readonly [ATTACHED] = true;
  declare readonly place: string;
  readonly code: string | undefined;
  /** The property that holds the ID. */
  readonly property: string;
  /** The embedded objects that lead to the one that has it. */
  readonly holders: readonly EmbeddedMetadata[];
  /** Whether rows may lack the ID: a single-table parent's rows have its children's columns and leave them null. */
  private readonly isOptional: boolean;

  constructor(
    readonly column: ColumnMetadata,
    readonly mark: SnowflakeMark,
    layout: Layout | undefined,
  ) {
    super(new IdForm(mark.as, mark.prefix), layout, placeOf(column));
    this.code = mark.code;
    this.property = column.propertyName;
    this.holders = column.embeddedMetadata?.embeddedMetadataTree ?? [];
    this.isOptional = !ownsColumn(column.entityMetadata, column);
  }

  isSet(entity: object): boolean {
    return !isUnset(this.column.getEntityValue(entity));
  }

  /** The next ID, as the property holds it. @throws RaindropError */
  next(source: SnowflakeSource): IdValue {
    if (this.form.isDecimalText && source.nextString !== undefined) return source.nextString(this.code);
    return this.form.of(source.nextId(this.code), this.place);
  }

  /** The same, waiting for it where waiting helps. @throws RaindropError */
  async nextLater(source: SnowflakeSource): Promise<IdValue> {
    return this.form.of(await source.nextIdAsync(this.code), this.place);
  }

  /**
   * Sets an ID, and makes a missing embedded object for it.
   * @throws SnowflakeNotAssignedError for an object that takes no property (`Object.freeze`)
   */
  put(entity: object, value: IdValue | undefined): void {
    try {
      this.column.setEntityValue(entity, value);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new SnowflakeNotAssignedError(this.mark.service, this.place, 'frozen', error);
    }
  }

  /**
   * @throws SnowflakeNotAssignedError without an ID: MariaDB in a lenient mode would store 0
   * @throws UnsafeSnowflakeError; InvalidIdError
   */
  write(value: unknown): unknown {
    if (value === undefined ? !this.isOptional : isUnset(value) && (value !== null || !this.column.isNullable)) {
      throw new SnowflakeNotAssignedError(this.mark.service, this.place, 'silent');
    }
    return this.form.write(value, this.place);
  }
}

/** The columns that services fill in rows of an entity. */
export function generatedColumnsOf(metadata: EntityMetadata): GeneratedColumn[] {
  const found: GeneratedColumn[] = [];
  for (const column of metadata.columns) {
    const attached = attachedTransformer(column);
    // By its shape: it may be of another copy of this package.
    if (attached !== undefined && 'next' in attached && ownsColumn(metadata, column)) {
      found.push(attached as unknown as GeneratedColumn);
    }
  }
  return found;
}

/** A column that holds the ID of a generated one: a foreign key, or part of a junction or closure table. */
export class ReferenceColumn extends IdTransformer implements AttachedTransformer {
  readonly [ATTACHED] = true;

  constructor(
    readonly column: ColumnMetadata,
    readonly key: GeneratedColumn,
  ) {
    super(key.form, key.layout, placeOf(column));
  }

  write(value: unknown): unknown {
    return this.form.write(value, this.place);
  }
}

/** Whether a row of this very entity has the column: false for a single-table parent and a child's column. */
export function ownsColumn(metadata: EntityMetadata, column: ColumnMetadata): boolean {
  const { target } = metadata;
  if (metadata.inheritancePattern !== 'STI' || column.embeddedMetadata !== undefined) return true;
  if (typeof target !== 'function' || typeof column.target !== 'function') return true;
  return target === column.target || target.prototype instanceof column.target;
}

/** A minifier shortens the names of classes, and a table keeps its own. */
export function placeOf(column: ColumnMetadata): string {
  return `${column.entityMetadata.tablePath}.${column.propertyPath}`;
}

/** The columns of a DataSource that hold IDs of one service. */
export interface FoundColumns {
  readonly generated: readonly GeneratedColumn[];
  readonly references: readonly ReferenceColumn[];
}

/** Finds the columns that a service is to fill, and those that point at them. */
export function findColumns(
  { entityMetadatas }: DataSource,
  { name, layout }: Pick<SnowflakeSource, 'name' | 'layout'>,
): FoundColumns {
  const columns = new Set(entityMetadatas.flatMap((metadata) => metadata.columns));
  const generated = new Map<ColumnMetadata, GeneratedColumn>();
  for (const column of columns) {
    const mark = markOfColumn(column);
    if (mark?.service === name) generated.set(column, new GeneratedColumn(column, mark, layout));
  }
  const references: ReferenceColumn[] = [];
  for (const column of columns) {
    const key = keyBehind(column, generated);
    if (key !== undefined) references.push(new ReferenceColumn(column, key));
  }
  return { generated: [...generated.values()], references };
}

/** The names of the services that columns of a DataSource name, attached or not. */
export function servicesOf({ entityMetadatas }: DataSource): Set<string> {
  const columns = entityMetadatas.flatMap((metadata) => metadata.columns);
  return new Set(columns.flatMap((column) => markOfColumn(column)?.service ?? []));
}

/** The mark of a generated column, whether its service is attached or not. */
export function markOfColumn(column: ColumnMetadata): SnowflakeMark | undefined {
  return markOf(column.transformer) ?? (attachedTransformer(column) as Partial<GeneratedColumn> | undefined)?.mark;
}

/** A foreign key may point at a key that is a foreign key itself. */
function keyBehind(
  column: ColumnMetadata,
  generated: ReadonlyMap<ColumnMetadata, GeneratedColumn>,
): GeneratedColumn | undefined {
  const seen = new Set<ColumnMetadata>();
  for (let next = column.referencedColumn; next !== undefined && !seen.has(next); next = next.referencedColumn) {
    const key = generated.get(next);
    if (key !== undefined) return key;
    seen.add(next);
  }
  return undefined;
}

/** Groups columns by the entities whose rows have them. */
export function columnsByEntity(
  dataSource: DataSource,
  generated: readonly GeneratedColumn[],
): Map<EntityMetadata, GeneratedColumn[]> {
  const byEntity = new Map<EntityMetadata, GeneratedColumn[]>();
  for (const metadata of dataSource.entityMetadatas) {
    const owned = metadata.columns.filter((column) => ownsColumn(metadata, column));
    const columns = generated.filter(({ column }) => owned.includes(column));
    if (columns.length > 0) byEntity.set(metadata, columns);
  }
  return byEntity;
}

/** Where the IDs of the columns come from: the part of an `IdService` that they need. */
export interface SnowflakeSource {
  /** The service's name, `default` when it has none: it serves the columns that name this service. */
  readonly name: string;
  /** Undefined for numbers from segments. */
  readonly layout: Layout | undefined;
  /**
   * The next ID, at once.
   * @throws RaindropError; when it is `retryable`, {@link nextIdAsync} is asked instead
   */
  nextId(code?: string): bigint;
  /** The same as decimal text, where that is quicker than to make it of the bigint. */
  nextString?(code?: string): string;
  /** The next ID, waiting for it where waiting helps. */
  nextIdAsync(code?: string): Promise<bigint>;
  /** Releases its worker id and connections when the application's start fails. */
  close?(): Promise<void>;
}
