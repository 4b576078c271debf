import type { DataSource, EntityMetadata, EntitySubscriberInterface, InsertEvent, QueryRunner } from 'typeorm';
import { databaseDefaultOf } from './database-defaults.js';
import type { GeneratedColumn, SnowflakeSource } from './generated-column.js';
import { type InsertRun, RunnerRuns } from './insert-runs.js';
import { type Row, rowClaims } from './row-claims.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import type { IdValue } from '@raindrop/core/internal';
import type { AppQuery } from './real-columns.js';
import type { TypedParameters } from './typed-parameters.js';
import { type ListedColumns, listedColumns } from '@raindrop/node/internal';

/** Registered, so that every copy of this package knows the subscribers of the others. */
const MARK = Symbol.for('@raindrop/typeorm:subscriber');

type BeforeInsert = Pick<InsertEvent<unknown>, 'entity' | 'metadata' | 'queryRunner'>;

interface AfterQuery {
  readonly parameters?: unknown;
  readonly success: boolean;
  readonly queryRunner: QueryRunner;
}

/** Sets the IDs of one service's columns before an insert. */
export class SnowflakeSubscriber implements EntitySubscriberInterface {
  /** Inserts that wait for an ID. */
  private waiting = 0;
  private readonly runs = new RunnerRuns();
  /**
   * Looks at the columns in the database, before the first insert; undefined once nothing was refused.
   * @throws EntityLintError
   */
  look: ((query: AppQuery) => Promise<void>) | undefined;

  constructor(
    readonly source: SnowflakeSource,
    private readonly columns: ReadonlyMap<EntityMetadata, readonly GeneratedColumn[]>,
    private readonly statements: { readonly guard: InsertGuard; readonly typed: TypedParameters },
    readonly detach: () => void,
  ) {}

  static {
    Object.defineProperty(this.prototype, MARK, { value: true });
  }

  /**
   * Returns `count` IDs for a column, as its property holds them: a promise only when the service has none right now.
   * @throws RaindropError
   */
  take(column: GeneratedColumn, count: number): IdValue[] | Promise<IdValue[]> {
    const values: IdValue[] = [];
    try {
      // While another insert waits, the source has no ID: each further call would run into its full, slow refusal.
      while (values.length < count && this.waiting === 0) values.push(column.next(this.source));
    } catch (error) {
      if (!isRetryable(error)) throw error;
    }
    return values.length === count ? values : this.takeLater(column, count, values);
  }

  /** Synchronous; a promise, for which TypeORM waits, only when the service has no ID right now. */
  beforeInsert({ entity, metadata, queryRunner }: BeforeInsert): void | Promise<void> {
    const columns = this.columns.get(metadata);
    // Rows of junction tables come without an entity.
    if (columns === undefined || typeof entity !== 'object' || entity === null) return;
    const { told } = rowClaims;
    const place = told === undefined ? -1 : told.tell(entity, metadata, this);
    const row = place < 0 ? this.begin(entity, metadata, columns, this.runs.of(queryRunner)) : undefined;
    for (const column of columns) {
      if (column.isSet(entity)) continue;
      // While another row waits, the source has no ID: each further call would run into its full, slow refusal.
      if (this.waiting > 0) return this.fillLater(columns, entity, row ?? rowClaims.beginWaiting(entity));
      try {
        const id = column.next(this.source);
        if (row === undefined) told!.keep(place, column, id);
        column.put(entity, id);
        if (row !== undefined || told !== rowClaims.told) rowClaims.noteId(entity, column.property, id);
      } catch (error) {
        if (isRetryable(error)) return this.fillLater(columns, entity, row ?? rowClaims.beginWaiting(entity));
        if (row !== undefined) failSaved(row);
        throw error;
      }
    }
  }

  afterInsert({ entity, metadata }: Pick<InsertEvent<unknown>, 'entity' | 'metadata'>): void {
    if (!this.columns.has(metadata) || typeof entity !== 'object' || entity === null) return;
    rowClaims.endSaved(entity);
  }

  afterTransactionCommit({ queryRunner }: Pick<InsertEvent<unknown>, 'queryRunner'>): void {
    rowClaims.forgetKept(queryRunner);
  }

  /** Before: a ROLLBACK that the server does not answer is one as well. */
  beforeTransactionRollback({ queryRunner }: Pick<InsertEvent<unknown>, 'queryRunner'>): void {
    rowClaims.noteKept(queryRunner);
  }

  afterTransactionRollback({ queryRunner }: Pick<InsertEvent<unknown>, 'queryRunner'>): void {
    rowClaims.noteKept(queryRunner);
    this.runs.end(queryRunner);
  }

  /** @throws SnowflakeNotAssignedError; InvalidIdError */
  beforeQuery({ query, parameters }: { readonly query: string; readonly parameters?: unknown }): void {
    this.statements.guard.check(query);
    this.statements.typed.convert(query, parameters);
  }

  afterQuery({ parameters, success, queryRunner }: AfterQuery): void {
    this.statements.typed.restore(parameters);
    if (success) return;
    rowClaims.noteKept(queryRunner);
    this.runs.end(queryRunner);
  }

  /**
   * Sets the IDs that are missing, at once. They are the application's.
   * @returns false when the entity has no column of this service
   * @throws SnowflakeNotAssignedError for an object that this run has met before
   */
  assign(entity: object, metadata: EntityMetadata, run: InsertRun): boolean {
    const columns = this.columns.get(metadata);
    if (columns === undefined) return false;
    this.begin(entity, metadata, columns, run);
    for (const column of columns) {
      if (!column.isSet(entity)) column.put(entity, column.next(this.source));
    }
    rowClaims.release(
      entity,
      columns.map(({ property }) => property),
    );
    return true;
  }

  /** @throws SnowflakeNotAssignedError */
  private begin(entity: object, metadata: EntityMetadata, columns: readonly GeneratedColumn[], run: InsertRun): Row {
    const row = rowClaims.beginSaved(entity, metadata, run, this);
    if (row !== undefined) return row;
    throw new SnowflakeNotAssignedError(this.source.name, columns[0]!.place, 'twice');
  }

  private put(column: GeneratedColumn, entity: object, id: IdValue): void {
    column.put(entity, id);
    rowClaims.noteId(entity, column.property, id);
  }

  private async takeLater(column: GeneratedColumn, count: number, taken: IdValue[]): Promise<IdValue[]> {
    this.waiting++;
    try {
      const missing = Array.from({ length: count - taken.length }, () => column.nextLater(this.source));
      return taken.concat(await Promise.all(missing));
    } finally {
      this.waiting--;
    }
  }

  private fillLater(columns: readonly GeneratedColumn[], entity: object, row: Row): Promise<void> {
    const filled = this.fill(columns, entity, row);
    // When a later row or subscriber throws in the same loop, TypeORM drops this promise. Its rejection must not end the process.
    filled.catch(() => undefined);
    return filled;
  }

  private async fill(columns: readonly GeneratedColumn[], entity: object, row: Row): Promise<void> {
    this.waiting++;
    try {
      for (const column of columns) {
        if (!column.isSet(entity)) {
          const id = await column.nextLater(this.source);
          if (hasEnded(row, column, entity)) return;
          this.put(column, entity, id);
        }
      }
    } catch (error) {
      failSaved(row);
      throw error;
    } finally {
      this.waiting--;
    }
  }
}

/** A service had no ID for a saved row. */
function failSaved(row: Row): void {
  if (row.run.builder === undefined) row.hasFailed = true;
}

/**
 * Whether an insert has failed while it waited: an ID that is set after it would count as the caller's. A save may go on
 * when its run is over, as another statement of its QueryRunner may have failed.
 */
function hasEnded({ run, isWritten, hasFailed }: Row, column: GeneratedColumn, entity: object): boolean {
  return isWritten || hasFailed === true || (run.isOver() && (run.builder !== undefined || column.isSet(entity)));
}

/** By its shape: the error may come from another copy of the core. */
function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}

/** Whether a subscriber is a SnowflakeSubscriber, of this copy of the package or of another one. */
export function isSnowflakeSubscriber(subscriber: object): subscriber is SnowflakeSubscriber {
  return MARK in subscriber;
}

/**
 * Refuses an insert whose list of columns leaves a generated one out: `into(Order, ['title'])`, `valuesFromSelect`, SQL
 * written by hand. TypeORM tells subscribers of some of these inserts, but a subscriber cannot add a column. MariaDB in a
 * lenient mode would store 0, and a database with a default for the column would store the default. For SQL written by hand
 * that is the purpose of `databaseDefault`, and such inserts of query builders are refused where they are built.
 */
export class InsertGuard {
  /** By the table's path, in lower case. */
  private readonly byTable = new Map<string, GeneratedColumn[]>();

  constructor(
    private readonly dataSource: Pick<DataSource, 'entityMetadatas'>,
    generated: readonly GeneratedColumn[],
  ) {
    for (const each of generated) {
      if (each.column.isNullable || databaseDefaultOf(each.column) !== undefined) continue;
      const table = each.column.entityMetadata.tablePath.toLowerCase();
      this.byTable.set(table, [...(this.byTable.get(table) ?? []), each]);
    }
  }

  /** @throws SnowflakeNotAssignedError */
  check(sql: string): void {
    if (this.byTable.size === 0) return;
    const listed = listedColumns(sql);
    if (listed === undefined) return;
    for (const { column, mark, place } of this.byTable.get(listed.table) ?? []) {
      if (listed.columns.has(column.databaseName.toLowerCase())) continue;
      const relation = joining(this.dataSource, listed);
      const why = relation === undefined ? 'column-list' : 'join-table';
      throw new SnowflakeNotAssignedError(mark.service, place, why, undefined, relation);
    }
  }
}

/**
 * The many-to-many relation, such as `post.tags` (by its table), whose links TypeORM inserts by a statement: it lists the
 * two foreign keys and nothing else. The table may be that of an entity as well.
 */
export function joining(
  { entityMetadatas }: Pick<DataSource, 'entityMetadatas'>,
  listed: ListedColumns,
): string | undefined {
  for (const { tableName, ownRelations } of entityMetadatas) {
    for (const { isManyToManyOwner, junctionEntityMetadata: junction, propertyPath } of ownRelations) {
      if (!isManyToManyOwner || junction?.tablePath.toLowerCase() !== listed.table) continue;
      const keys = junction.columns.map(({ databaseName }) => databaseName.toLowerCase());
      if (keys.length === listed.columns.size && keys.every((each) => listed.columns.has(each))) {
        return `${tableName}.${propertyPath}`;
      }
    }
  }
  return undefined;
}
