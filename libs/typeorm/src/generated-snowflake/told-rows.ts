import type { EntityMetadata } from 'typeorm';
import type { GeneratedColumn } from './generated-column.js';
import type { InsertRun } from './row-claims.js';

/** Stands for an ID that a row had when its execution began. */
export const GIVEN = Symbol('given');

/** A column, and the ID of each row in it: undefined until it is made. */
interface ToldColumn {
  readonly column: GeneratedColumn;
  readonly ids: unknown[];
}

/**
 * The rows of an execution that TypeORM tells its subscribers of, as long as nothing else is written. TypeORM tells of one
 * after the other: a count says which of them a subscriber of ours has filled, and a list has their IDs. Claims say the same
 * of each object by itself, and their garbage would add a quarter to the CPU time of an insert of 1,000 rows; they are made
 * of this when another call begins.
 */
export class ToldRows {
  readonly columns: readonly ToldColumn[];
  readonly properties: readonly string[];
  /** For each of the fillers, the number of rows that it was told of. */
  private readonly counts: number[];

  constructor(
    readonly run: InsertRun,
    readonly metadata: EntityMetadata,
    /** The objects, each of which describes one row. */
    readonly rows: readonly object[],
    columns: readonly GeneratedColumn[],
    /** The subscribers that fill the columns. */
    private readonly fillers: readonly unknown[],
  ) {
    this.columns = columns.map((column) => ({
      column,
      ids: rows.map((row) => (column.isSet(row) ? GIVEN : undefined)),
    }));
    this.properties = columns.map(({ property }) => property);
    this.counts = fillers.map(() => 0);
  }

  /**
   * Counts a row that a filler is told of.
   * @returns its place; -1, and counts nothing, where it is not the next one, or lacks an ID that it had
   */
  tell(object: object, metadata: EntityMetadata, filler: unknown): number {
    const at = this.fillers.indexOf(filler);
    const place = this.counts[at];
    if (place === undefined || this.rows[place] !== object || metadata !== this.metadata) return -1;
    for (const { column, ids } of this.columns) if (ids[place] === GIVEN && !column.isSet(object)) return -1;
    this.counts[at] = place + 1;
    return place;
  }

  /** Keeps the ID that a filler sets in the row at a place. */
  keep(place: number, column: GeneratedColumn, id: unknown): void {
    for (const each of this.columns) if (each.column === column) each.ids[place] = id;
  }

  /** The fillers that were told of a row. */
  filledBy(place: number): unknown[] {
    return this.fillers.filter((_, at) => place < this.counts[at]!);
  }
}
