import type { EntityMetadata, QueryRunner } from 'typeorm';
import { processWide } from '@raindrop/core/internal';
import { type GeneratedColumn, generatedColumnsOf } from './generated-column.js';
import { isUnset } from './patches.js';

/**
 * A call that inserts: one execution of a query builder, or what a QueryRunner saves until something fails.
 *
 * An ID that it has set in an object is the application's once its row is written: two archives that get the object get
 * the same ID. An ID whose row was lost, as a statement failed or a transaction was rolled back, stays in its object, for
 * the next attempt, but it is still ours: of two rows that are made of the object one gets it.
 */
export interface InsertRun {
  /** Whether what it was to write has been written or has failed. */
  isOver(): boolean;
  /** Stands for the query builder; undefined for what is saved. */
  readonly builder?: object;
  /** Whether all that it was to write is written. What is saved tells it row by row. */
  readonly hasWritten?: boolean;
}

/** A transaction of a QueryRunner. */
export interface Transaction {
  /** Whether the rows that were written in it are gone. */
  isRolledBack: boolean;
}

/** One execution of a query builder. The claims of its objects refer to it: it refers neither to them nor to the builder. */
export class Execution implements InsertRun {
  hasWritten = false;
  private hasEnded = false;

  constructor(
    readonly builder: object,
    readonly transaction: Transaction | undefined,
  ) {}

  isOver(): boolean {
    return this.hasEnded;
  }

  end(): void {
    this.hasEnded = true;
  }
}

/** The rows of one execution whose IDs are set all at once, not when TypeORM tells its subscribers of them. */
export interface FilledRows {
  readonly run: Execution;
  readonly metadata: EntityMetadata;
  /** The subscribers that they take their IDs from. */
  readonly fillers: readonly unknown[];
  readonly columns: readonly FilledColumn[];
}

/** The rows that lacked an ID in one column. */
export interface FilledColumn {
  readonly property: string;
  readonly rows: readonly object[];
  /** The value of each row's property when the run ended; undefined until then. */
  readonly held?: readonly unknown[];
}

/** A row that is being written, with all the objects that it is made of. */
export interface Row {
  readonly run: InsertRun;
  /** Of its entity in its DataSource: an object that is to be saved by another one would be another row. */
  readonly metadata: EntityMetadata;
  /** The subscribers that have filled it, or are about to. */
  filledBy: unknown[];
  /** The claims of its embedded objects. */
  embedded?: Claim[];
  isWritten: boolean;
  /** Whether a service had no ID for it. */
  hasFailed?: boolean;
  /** The one in which it is written. */
  readonly transaction: Transaction | undefined;
}

/** The row that an object describes. An embedded object is a part of the row, with properties of its own. */
interface Claim {
  readonly row: Row;
  readonly part: Part;
  /** The properties that had no ID when the row was begun, or that of a lost row. */
  readonly missing: string[];
  /** Their values when they were filled. */
  filled?: unknown[];
  /** Whether the object, or one below it, has such properties. */
  isFilled: boolean;
}

type Part = Record<string, unknown>;

/**
 * Tells which row an object describes while it is written, so that one object that stands for two rows gives neither of
 * them the ID of the other: `insert([o, o])`, a builder that is executed twice, an embedded object that two entities
 * share, two calls at a time, through one DataSource or several. Nothing says whether two DataSources have one database.
 */
export class RowClaims {
  private readonly claims = new WeakMap<object, Claim>();
  /** Executions under way whose objects are not in `claims` yet. */
  private readonly unnoted = new Set<FilledRows>();
  private readonly transactions = new WeakMap<QueryRunner, Transaction>();

  /**
   * Begins the rows of an execution, which TypeORM tells its subscribers of.
   * @returns of each object itself, or a copy without those IDs that were made for another row; a copy as well of what
   * cannot hold an ID (`Object.freeze`)
   */
  begin(
    given: readonly object[],
    metadata: EntityMetadata,
    columns: readonly GeneratedColumn[],
    run: Execution,
  ): object[] {
    this.noteRowsUnderWay();
    const properties = columns.map(({ holders, property }) => holders[0]?.propertyName ?? property);
    return given.map((each) => {
      const row: Row = { run, metadata, filledBy: [], isWritten: false, transaction: run.transaction };
      const object = this.take(each as Part, properties, row);
      this.claimParts(object, columns, row);
      return object;
    });
  }

  /**
   * The same for an execution whose rows are filled all at once: {@link beginFilled} follows.
   * @returns undefined where an object has the ID of a lost row, which has to be claimed at once
   */
  separate(given: readonly object[], properties: readonly string[], run: InsertRun): object[] | undefined {
    this.noteRowsUnderWay();
    if (given.some((each) => lostIds(this.claims.get(each)).length > 0)) return undefined;
    return given.map((each) => this.ownOf(each as Part, properties, run));
  }

  /**
   * Begins rows that are filled all at once. Their objects are entered in `claims` only when another call begins before
   * the execution has ended: until then no other call can have one of them. An insert of 1,000 rows that runs by itself
   * enters none, which would take 4 % of its time.
   */
  beginFilled(filled: FilledRows): void {
    this.unnoted.add(filled);
  }

  /** Lets TypeORM tell the fillers of rows that are noted and filled: of each row once, as of rows that they fill then. */
  letTell(filled: FilledRows): void {
    for (const { rows } of filled.columns) {
      for (const each of rows) {
        const row = this.claims.get(each)?.row;
        if (row?.run === filled.run) row.filledBy = [];
      }
    }
  }

  /** Notes the IDs that rows were filled with, unless they are written and no other call can have met their objects. */
  endFilled(filled: FilledRows): void {
    const isNoted = !this.unnoted.delete(filled);
    const { hasWritten, transaction } = filled.run;
    if (isNoted || !hasWritten || transaction !== undefined) this.note(filled);
  }

  /** The transaction that a QueryRunner is in. */
  transactionOf(runner: QueryRunner | undefined): Transaction | undefined {
    if (runner?.isTransactionActive !== true) return undefined;
    const present = this.transactions.get(runner);
    if (present !== undefined) return present;
    const transaction = { isRolledBack: false };
    this.transactions.set(runner, transaction);
    return transaction;
  }

  /** Begins another transaction where one has ended, which may have been a savepoint. */
  endTransaction(runner: QueryRunner, isRolledBack: boolean): void {
    if (!isRolledBack && runner.isTransactionActive) return;
    const transaction = this.transactions.get(runner);
    if (transaction !== undefined) transaction.isRolledBack = isRolledBack;
    this.transactions.delete(runner);
  }

  /**
   * Begins to fill a row, of which TypeORM has only the object itself.
   * @returns undefined when it is being written already, by this very subscriber or through another DataSource
   */
  beginSaved(
    entity: object,
    metadata: EntityMetadata,
    { run, transaction }: Pick<Row, 'run' | 'transaction'>,
    subscriber: unknown,
  ): Row | undefined {
    this.noteRowsUnderWay();
    const present = this.claims.get(entity);
    if (present !== undefined && present.isFilled && !isEnded(present.row)) {
      const { row } = present;
      if (row.metadata !== metadata || row.filledBy.includes(subscriber)) return undefined;
      row.filledBy.push(subscriber);
      return row;
    }
    const row: Row = { run, metadata, filledBy: [subscriber], isWritten: false, transaction };
    this.enter(entity as Part, row, present);
    this.claimParts(entity as Part, generatedColumnsOf(metadata), row);
    return row;
  }

  /** Notes the IDs that a saved row has got, and whether a service had none for it. */
  noteSaved(entity: object, hasFailed = false): void {
    const claim = this.claims.get(entity);
    if (claim === undefined || claim.row.run.builder !== undefined) return;
    noteFilled(claim);
    claim.row.embedded?.forEach(noteFilled);
    if (hasFailed) claim.row.hasFailed = true;
  }

  /** Marks a saved row as written: from now on the ID in its object counts as set by the caller. */
  endSaved(entity: object): void {
    const claim = this.claims.get(entity);
    if (claim !== undefined && claim.row.run.builder === undefined) claim.row.isWritten = true;
  }

  /** Notes the IDs that a builder's rows have got: its next execution replaces them. */
  end(rows: readonly object[]): void {
    for (const each of rows) {
      const claim = this.claims.get(each);
      if (claim === undefined) continue;
      noteFilled(claim);
      claim.row.embedded?.forEach(noteFilled);
    }
  }

  /** Enters the objects of an execution in `claims`, except those that another row under way is made of. */
  note(filled: FilledRows): void {
    for (const { property, rows, held } of filled.columns) {
      for (const [at, object] of rows.entries()) {
        const claim = this.claimOf(object as Part, filled);
        if (claim === undefined) continue;
        const known = claim.missing.indexOf(property);
        const place = known < 0 ? claim.missing.push(property) - 1 : known;
        if (held !== undefined) (claim.filled ??= [])[place] = held[at];
      }
    }
  }

  private claimOf(object: Part, { run, metadata, fillers }: FilledRows): Claim | undefined {
    const present = this.claims.get(object);
    if (present?.row.run === run) return present;
    // A row under way that had all its IDs sets none in the object: this one does.
    if (present !== undefined && present.isFilled && !isEnded(present.row)) return undefined;
    const row: Row = { run, metadata, filledBy: [...fillers], isWritten: false, transaction: run.transaction };
    const claim: Claim = { row, part: object, missing: [], isFilled: true };
    this.claims.set(object, claim);
    return claim;
  }

  private noteRowsUnderWay(): void {
    if (this.unnoted.size === 0) return;
    for (const each of this.unnoted) this.note(each);
    this.unnoted.clear();
  }

  private claimParts(object: Part, columns: readonly GeneratedColumn[], row: Row): void {
    for (const { holders, property } of columns) {
      const parts = [object];
      for (const [depth, embedded] of holders.entries()) {
        const holder = parts[depth]!;
        const name = embedded.propertyName;
        // TypeORM would make a missing one when it is given the ID, and the next row would find it.
        if (isMissing(holder[name]) && Object.isExtensible(holder)) holder[name] = embedded.create();
        const part = holder[name];
        if (typeof part !== 'object' || part === null) break;
        const own = this.take(part as Part, [holders[depth + 1]?.propertyName ?? property], row);
        if (own !== part) holder[name] = own;
        parts.push(own);
        (row.embedded ??= []).push(this.claims.get(own)!);
      }
      if (parts.length <= holders.length) continue;
      const { missing } = this.claims.get(parts.at(-1)!)!;
      const isLacking = isUnset(parts.at(-1)![property]);
      if (!isLacking && !missing.includes(property)) continue;
      if (isLacking) missing.push(property);
      for (const each of parts) this.claims.get(each)!.isFilled = true;
    }
  }

  /** Claims an object, or a copy of it, for a row. */
  private take(part: Part, properties: readonly string[], row: Row): Part {
    const present = this.claims.get(part);
    if (present?.row === row) return part;
    const own = this.ownOf(part, properties, row.run);
    this.enter(own, row, own === part ? present : undefined);
    return own;
  }

  /** Claims an object for a row. It may have IDs of a lost row, which it was claimed for. */
  private enter(part: Part, row: Row, lost: Claim | undefined): void {
    const missing = lostIds(lost);
    this.claims.set(part, { row, part, missing, isFilled: missing.length > 0 });
  }

  /** @returns the object itself, or a copy where it is another row's or cannot hold an ID in one of these properties */
  private ownOf(part: Part, properties: readonly string[], run: InsertRun): Part {
    const claim = this.claims.get(part);
    if (claim !== undefined && claim.isFilled && isOfAnother(claim, run)) {
      return copyWithout(
        part,
        claim.missing.filter((name, at) => isMadeForOther(claim, name, at)),
      );
    }
    return canHold(part, properties) ? part : copyWithout(part, []);
  }
}

/** The run of each QueryRunner that saves. After a failure it is over: its objects may be saved again, with their IDs. */
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

  /** Called when a statement has failed or the transaction was rolled back. */
  end(runner: QueryRunner): void {
    this.runs.get(runner)?.end();
    this.runs.delete(runner);
  }
}

/** The claims on all objects, shared by all DataSources and all copies of this package. */
export const rowClaims = processWide('claims of rows', () => new RowClaims());

function noteFilled(claim: Claim): void {
  claim.filled = claim.missing.map((name) => claim.part[name]);
}

/** Whether a row has been written, or has failed. */
function isEnded({ run, isWritten, hasFailed }: Row): boolean {
  return isWritten || hasFailed === true || run.isOver();
}

function isMissing(part: unknown): boolean {
  return part === undefined || part === null;
}

/** The properties in which an object has the ID of a row that was not written, or that was rolled back. */
function lostIds(claim: Claim | undefined): string[] {
  if (claim === undefined || claim.missing.length === 0) return [];
  const { row, part, missing, filled } = claim;
  const isWritten = row.isWritten || row.run.hasWritten === true;
  if (row.transaction?.isRolledBack !== true && (isWritten || !isEnded(row))) return [];
  return missing.filter((name, at) => !isUnset(part[name]) && part[name] === filled?.[at]);
}

/** Whether an object belongs to a row under way, or holds IDs that an earlier execution of the same builder has set. */
function isOfAnother({ row, part, missing, filled }: Claim, run: InsertRun): boolean {
  if (!isEnded(row)) return true;
  if (run.builder === undefined || row.run.builder !== run.builder) return false;
  return missing.length === 0 || missing.some((name, at) => !isUnset(part[name]) && part[name] === filled?.[at]);
}

/** Whether an object takes these properties: it can be extended, or has them already and writable. */
function canHold(part: object, properties: readonly string[]): boolean {
  if (Object.isExtensible(part)) return true;
  return properties.every((name) => Object.getOwnPropertyDescriptor(part, name)?.writable === true);
}

/** Whether the ID in a property was made for the claimed row; false when the caller has set another one since. */
function isMadeForOther({ row, part, filled }: Claim, name: string, at: number): boolean {
  return !isEnded(row) || part[name] === filled?.[at];
}

/** Copies an object without these properties: with its prototype and getters (lazy relations), and writable. */
export function copyWithout<Given extends object>(part: Given, properties: readonly string[]): Given {
  const descriptors: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(part);
  for (const name of properties) delete descriptors[name];
  for (const each of Object.values(descriptors)) {
    each.configurable = true;
    if ('value' in each) each.writable = true;
  }
  const copy = Object.create(Object.getPrototypeOf(part) as object | null, descriptors) as Given;
  const values = copy as Record<string, unknown>;
  // An accessor of the class keeps its value in a property of another name.
  for (const name of properties) if (!isUnset(values[name])) values[name] = undefined;
  return copy;
}
