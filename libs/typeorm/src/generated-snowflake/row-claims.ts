import { type DataSource, type EntityMetadata, InsertQueryBuilder, type QueryRunner } from 'typeorm';
import { dataSourceOf } from '../connection/data-source-of.js';
import { type GeneratedColumn, generatedColumnsOf } from './generated-column.js';
import { isUnset } from './patches.js';

/** A call that inserts: one execution of a query builder, or what a QueryRunner saves until something fails. */
export interface InsertRun {
  /** Whether what it was to write has been written or has failed. */
  isOver(): boolean;
  /** The query builder; undefined for what is saved. */
  readonly builder?: object;
}

/** A row that is being written, with all the objects that it is made of. */
interface Row {
  readonly run: InsertRun;
  /** The subscribers that have filled it. */
  readonly filledBy: unknown[];
  isWritten: boolean;
}

/** The row that an object describes. An embedded object is a part of the row, with properties of its own. */
interface Claim {
  readonly row: Row;
  readonly part: Part;
  /** The properties that had no ID when the row was begun. */
  readonly missing: string[];
  /** What they held at the end of the run. */
  filled?: unknown[];
  /** Whether the object, or one below it, lacks an ID. */
  isFilled: boolean;
}

type Part = Record<string, unknown>;

/**
 * Tells which row an object describes while it is written, so that one object that stands for two rows gives neither of
 * them the ID of the other: `insert([o, o])`, a builder that is executed twice, an embedded object that two entities
 * share, two calls at a time.
 */
export class RowClaims {
  private readonly claims = new WeakMap<object, Claim>();

  /**
   * Begins a row.
   * @returns the object, or a copy of it without those IDs that were made for another row; a copy as well of what cannot
   * hold an ID (`Object.freeze`)
   */
  begin(given: object, columns: readonly GeneratedColumn[], run: InsertRun): object {
    const row: Row = { run, filledBy: [], isWritten: false };
    const object = this.take(given as Part, columns[0]!.holders.length === 0 ? columns[0]!.property : undefined, row);
    this.claimParts(object, columns, row);
    return object;
  }

  /**
   * Begins to fill a row, of which TypeORM has only the object itself.
   * @returns false when it is being written already, by this very subscriber
   */
  beginSaved(entity: object, columns: readonly GeneratedColumn[], run: InsertRun, subscriber: unknown): boolean {
    const present = this.claims.get(entity);
    if (present !== undefined && present.isFilled && !isEnded(present.row)) {
      if (present.row.filledBy.includes(subscriber)) return false;
      present.row.filledBy.push(subscriber);
      return true;
    }
    const row: Row = { run, filledBy: [subscriber], isWritten: false };
    this.claims.set(entity, { row, part: entity as Part, missing: [], isFilled: false });
    this.claimParts(entity as Part, columns, row);
    return true;
  }

  /** A saved row is written: from now on what its object holds was set. */
  endSaved(entity: object): void {
    const claim = this.claims.get(entity);
    if (claim !== undefined && claim.row.run.builder === undefined) claim.row.isWritten = true;
  }

  /** Notes what rows of a builder were filled with: at its next execution they are filled anew. */
  end(rows: readonly object[]): void {
    for (const each of rows) {
      const claim = this.claims.get(each);
      if (claim !== undefined) claim.filled = claim.missing.map((name) => claim.part[name]);
    }
  }

  private claimParts(object: Part, columns: readonly GeneratedColumn[], row: Row): void {
    for (const { holders, property } of columns) {
      const parts = [object];
      for (const [depth, name] of holders.entries()) {
        const holder = parts[depth]!;
        const part = holder[name];
        // TypeORM makes a missing one.
        if (typeof part !== 'object' || part === null) break;
        const own = this.take(part as Part, depth === holders.length - 1 ? property : undefined, row);
        if (own !== part) holder[name] = own;
        parts.push(own);
      }
      if (parts.length <= holders.length || !isUnset(parts.at(-1)![property])) continue;
      this.claims.get(parts.at(-1)!)!.missing.push(property);
      for (const each of parts) this.claims.get(each)!.isFilled = true;
    }
  }

  /** @returns the object itself, or a copy where it is another row's or cannot hold an ID */
  private take(part: Part, property: string | undefined, row: Row): Part {
    const claim = this.claims.get(part);
    if (claim?.row === row) return part;
    const isTaken = claim !== undefined && claim.isFilled && isOfAnother(claim, row.run);
    const own = isTaken || !canHold(part, property) ? copyOf(part, claim, isTaken) : part;
    this.claims.set(own, { row, part: own, missing: [], isFilled: false });
    return own;
  }
}

/** What QueryRunners save. A save that failed is over, and may be tried again with the IDs that its objects have. */
export class RunnerRuns {
  private readonly runs = new WeakMap<QueryRunner, InsertRun & { end(): void }>();

  of(runner: QueryRunner): InsertRun {
    const present = this.runs.get(runner);
    if (present !== undefined) return present;
    let isOver = false;
    const run = { isOver: () => isOver || runner.isReleased, end: () => void (isOver = true) };
    this.runs.set(runner, run);
    return run;
  }

  /** When a statement has failed, or the transaction was rolled back. */
  end(runner: QueryRunner): void {
    this.runs.get(runner)?.end();
    this.runs.delete(runner);
  }
}

const OF_DATA_SOURCES = new WeakMap<DataSource, RowClaims>();

/** Those of all services that fill columns of a DataSource. */
export function rowClaimsOf(dataSource: DataSource): RowClaims {
  const present = OF_DATA_SOURCES.get(dataSource);
  if (present !== undefined) return present;
  const claims = new RowClaims();
  OF_DATA_SOURCES.set(dataSource, claims);
  return claims;
}

function isEnded({ run, isWritten }: Row): boolean {
  return isWritten || run.isOver();
}

/** Of a row that is being written, or that an earlier execution of the same builder has written with IDs of ours. */
function isOfAnother({ row, part, missing, filled }: Claim, run: InsertRun): boolean {
  if (!isEnded(row)) return true;
  if (run.builder === undefined || row.run.builder !== run.builder) return false;
  return missing.length === 0 || missing.some((name, at) => !isUnset(part[name]) && part[name] === filled?.[at]);
}

/** A property may be given to an object that can be extended, or has it already. */
function canHold(part: object, property: string | undefined): boolean {
  if (Object.isExtensible(part)) return true;
  return property !== undefined && Object.getOwnPropertyDescriptor(part, property)?.writable === true;
}

/** With its prototype and getters (lazy relations), but writable, and without the IDs that we made for the other row. */
function copyOf(part: Part, claim: Claim | undefined, isTaken: boolean): Part {
  const properties = Object.getOwnPropertyDescriptors(part);
  for (const each of Object.values(properties)) {
    each.configurable = true;
    if ('value' in each) each.writable = true;
  }
  const copy = Object.create(Object.getPrototypeOf(part) as object | null, properties) as Part;
  for (const [at, name] of isTaken ? claim!.missing.entries() : []) {
    if (!isEnded(claim!.row) || part[name] === claim!.filled?.[at]) delete copy[name];
  }
  return copy;
}

const INSTALLED = Symbol.for('@raindrop/typeorm:insert-rows');

/** What is used of a query builder. */
interface Builder {
  readonly dataSource: DataSource;
  readonly expressionMap: {
    readonly mainAlias?: { readonly hasMetadata: boolean; readonly metadata: EntityMetadata };
    readonly callListeners: boolean;
    valuesSet?: object | readonly object[];
  };
  execute: (this: Builder) => Promise<unknown>;
  [INSTALLED]?: true;
}

/**
 * Replaces `execute` of the query builders that insert: each place of their values is a row of its own. An object that
 * stands for more rows than one describes the first of them; the others are written from copies, as TypeORM's
 * subscribers can fill an object only once.
 */
export function separateRows(): void {
  const builders = InsertQueryBuilder.prototype as unknown as Builder;
  if (builders[INSTALLED] === true) return;
  Object.defineProperty(builders, INSTALLED, { value: true });
  const { execute } = builders;
  builders.execute = function () {
    const { mainAlias, callListeners, valuesSet } = this.expressionMap;
    if (!callListeners || mainAlias?.hasMetadata !== true || typeof valuesSet !== 'object') return execute.call(this);
    const columns = generatedColumnsOf(mainAlias.metadata);
    return columns.length === 0 ? execute.call(this) : executeRows(this, valuesSet, columns, () => execute.call(this));
  };
}

async function executeRows(
  builder: Builder,
  given: object | readonly object[],
  columns: ReturnType<typeof generatedColumnsOf>,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  let isOver = false;
  const run: InsertRun = { builder: tokenOf(builder), isOver: () => isOver };
  const claims = rowClaimsOf(dataSourceOf(builder));
  const rows = [given].flat().map((each) => claims.begin(each, columns, run));
  builder.expressionMap.valuesSet = rows;
  try {
    return await execute();
  } finally {
    isOver = true;
    claims.end(rows);
    builder.expressionMap.valuesSet = given;
  }
}

const TOKENS = new WeakMap<Builder, object>();

/** Stands for a builder: its objects, which outlive it, shall not keep it. */
function tokenOf(builder: Builder): object {
  const present = TOKENS.get(builder);
  if (present !== undefined) return present;
  const token = {};
  TOKENS.set(builder, token);
  return token;
}
