import type { EntityMetadata, QueryRunner } from 'typeorm';
import { dataSourceOf } from '../connection/data-source-of.js';
import { processWide } from '@raindrop/core/internal';
import { type GeneratedColumn, generatedColumnsOf } from './generated-column.js';
import { Execution, type InsertRun } from './insert-runs.js';
import { isUnset } from './patches.js';
import type { ToldRows } from './told-rows.js';

/** The rows of one execution whose IDs are set all at once, not when TypeORM tells its subscribers of them. */
export interface FilledRows {
  readonly run: InsertRun;
  readonly metadata: EntityMetadata;
  /** The subscribers that they take their IDs from. */
  readonly fillers: readonly unknown[];
  readonly columns: readonly FilledColumn[];
}

/** The rows that lacked an ID in one column. */
export interface FilledColumn {
  readonly property: string;
  readonly rows: readonly object[];
  /** The IDs that were set in them; undefined until then. */
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
}

/** The row that an object describes. An embedded object is a part of the row, with properties of its own. */
interface Claim {
  readonly row: Row;
  readonly part: Part;
  /** The properties whose IDs are ours: those that had one of ours when the row was begun, then those that had none. */
  readonly ours: string[];
  /** Their IDs, undefined until they are set. Another value is the application's. */
  readonly ids: unknown[];
  /** How many of them had an ID. */
  readonly presentCount: number;
  /** Whether the object, or one below it, has such properties. Example: `{ id: undefined, name: 'a' }` with a key of ours. */
  isFilled: boolean;
  /** Whether the object, or one below it, has such a property without an ID: an insert is to set one. */
  isLacking: boolean;
}

type Part = Record<string, unknown>;

/** The run of rows that {@link RowClaims.left} tells of. */
const ENDED: InsertRun = { isOver: () => true };

/** So many rows of a transaction that is under way are kept in case it is rolled back; older ones are entered in `claims`. */
const MOST_KEPT_ROWS = 10_000;

/**
 * Tells which row an object describes while it is written, so that one object that stands for two rows gives neither of
 * them the ID of the other: `insert([o, o])`, a builder that is executed twice, an embedded object that two entities
 * share, two calls at a time, through one DataSource or several. Nothing says whether two DataSources have one database.
 *
 * An ID that was made for an object stays in it, and the next row that is made of the object has it: a retry after a
 * rollback, a copy in an archive. Of several rows of one table in a call, or in calls at once, one has it, and the others
 * get IDs of their own. Rows of two tables, or of two DataSources, may both have it: a row that is copied to an
 * archive keeps its ID. Whether the first row was written or lost plays no role. An ID that the application has set, or asked for by `assign()`, is never replaced.
 */
class RowClaims {
  private readonly claims = new WeakMap<object, Claim>();
  /** Executions under way whose objects are not in `claims` yet. */
  private readonly unnoted = new Set<FilledRows>();
  /** The told execution under way whose objects are not in `claims` yet: the latest, as each call enters those before. */
  told: ToldRows | undefined;
  /**
   * The objects of told executions that have ended, and were not entered in `claims`: by property, what was set in each of
   * them. An object that is in both has been met by a later call, and `claims` counts.
   */
  private readonly left: { readonly property: string; readonly ids: WeakMap<object, unknown> }[] = [];
  /** What transactions have inserted that are under way. */
  private readonly kept = new WeakMap<QueryRunner, { rows: number; readonly runs: FilledRows[] }>();

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
      const row: Row = { run, metadata, filledBy: [], isWritten: false };
      const object = this.take(each as Part, properties, row);
      this.claimParts(object, columns, row);
      return object;
    });
  }

  /**
   * The same for objects that no call has met before, each of which stands for one row. They are entered in `claims` only
   * when another call begins before the execution has ended, see {@link ToldRows}.
   * @returns false for other objects: {@link begin} has to follow
   */
  beginTold(told: ToldRows): boolean {
    this.noteRowsUnderWay();
    const { metadata, properties, rows } = told;
    if (rows.some((each) => this.claimOn(each, metadata) !== undefined || !canHold(each, properties))) return false;
    if (new Set(rows).size < rows.length) return false;
    this.told = told;
    return true;
  }

  /** The row of an object of a told execution. Its ID has to be waited for: other calls may begin until then. */
  beginWaiting(object: object): Row {
    this.noteRowsUnderWay();
    return this.claims.get(object)!.row;
  }

  /**
   * Notes what a told execution has left in its objects. Those that got no ID are noted as well: the next call that inserts
   * them enters them in `claims`, and {@link noteTold} leaves them alone.
   * @returns false where its objects are in `claims`
   */
  endTold(told: ToldRows): boolean {
    if (this.told !== told) return false;
    this.told = undefined;
    for (const { column, ids } of told.columns) {
      const { property } = column;
      let left = this.left.find((each) => each.property === property);
      if (left === undefined) this.left.push((left = { property, ids: new WeakMap() }));
      for (let place = 0; place < ids.length; place++) left.ids.set(told.rows[place]!, ids[place]);
    }
    return true;
  }

  /**
   * Enters the objects of a told execution in `claims`: another call begins, or its query builder is executed again after
   * it has ended. Objects that another call has met since are that call's.
   */
  noteTold(told: ToldRows): void {
    const { metadata, rows, run } = told;
    for (const [place, object] of rows.entries()) {
      if (this.claims.has(object)) continue;
      const row: Row = { run, metadata, filledBy: told.filledBy(place), isWritten: false };
      const claim = this.enter(object as Part, row, undefined);
      for (const [property, id] of told.idsOf(place)) {
        claim.ours.push(property);
        claim.ids.push(id);
        claim.isFilled = claim.isLacking = true;
      }
    }
  }

  /**
   * The same for an execution whose rows are filled all at once: {@link beginFilled} follows.
   * @returns undefined where an object has an ID of ours, which has to be claimed at once
   */
  separate(
    given: readonly object[],
    metadata: EntityMetadata,
    properties: readonly string[],
    run: InsertRun,
  ): object[] | undefined {
    this.noteRowsUnderWay();
    for (const each of given) {
      const claim = this.claimOn(each, metadata);
      if (run.isUpsert !== true && claim !== undefined && hasOurs(claim) && !isOfBuilder(claim, run)) return undefined;
    }
    return given.map((each) => this.ownOf(each as Part, properties, { run, metadata }));
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

  /**
   * Notes the IDs that rows were filled with, unless they are written and no other call can have met their objects. Those of
   * a transaction are kept until it has ended.
   */
  endFilled(filled: FilledRows, isWritten: boolean, transaction: QueryRunner | undefined): void {
    const isNoted = !this.unnoted.delete(filled);
    if (isNoted || !isWritten) this.note(filled);
    else if (transaction !== undefined) this.keep(filled, transaction);
  }

  private keep(filled: FilledRows, runner: QueryRunner): void {
    if (rowsOf(filled) === 0) return;
    const kept = this.kept.get(runner) ?? { rows: 0, runs: [] };
    this.kept.set(runner, kept);
    kept.runs.push(filled);
    kept.rows += rowsOf(filled);
    while (kept.rows > MOST_KEPT_ROWS) {
      const oldest = kept.runs.shift()!;
      kept.rows -= rowsOf(oldest);
      this.note(oldest);
    }
  }

  /** Forgets what a transaction has inserted: it was committed. */
  forgetKept(runner: QueryRunner): void {
    // After a savepoint the transaction goes on.
    if (!runner.isTransactionActive) this.kept.delete(runner);
  }

  /** Notes the IDs of what a transaction has inserted: it is rolled back, or a statement has failed in it. */
  noteKept(runner: QueryRunner): void {
    const { runs = [] } = this.kept.get(runner) ?? {};
    this.kept.delete(runner);
    for (const each of runs) this.note(each);
  }

  /**
   * Begins to fill a row, of which TypeORM has only the object itself.
   * @returns undefined when it is being written already, by this very subscriber or through another DataSource
   */
  beginSaved(entity: object, metadata: EntityMetadata, run: InsertRun, subscriber: unknown): Row | undefined {
    this.noteRowsUnderWay();
    const present = this.claimOn(entity, metadata);
    if (present !== undefined && isTaken(present, metadata, run)) {
      const { row } = present;
      if (row.metadata !== metadata || row.filledBy.includes(subscriber)) return undefined;
      row.filledBy.push(subscriber);
      return row;
    }
    const row: Row = { run, metadata, filledBy: [subscriber], isWritten: false };
    this.enter(entity as Part, row, present);
    this.claimParts(entity as Part, generatedColumnsOf(metadata), row);
    return row;
  }

  /** Notes an ID that was set in an object of a row. */
  noteId(entity: object, property: string, id: unknown): void {
    const claim = this.claims.get(entity);
    if (claim === undefined) return;
    for (const each of [claim, ...(claim.row.embedded ?? [])]) {
      const at = each.ours.indexOf(property);
      if (at >= 0 && each.part[property] === id) each.ids[at] = id;
    }
  }

  /** Leaves the IDs in properties of an object to the application. */
  release(entity: object, properties: readonly string[]): void {
    const claim = this.claims.get(entity);
    if (claim === undefined) return;
    for (const { ours, ids } of [claim, ...(claim.row.embedded ?? [])]) {
      for (const [at, name] of ours.entries()) if (properties.includes(name)) ids[at] = undefined;
    }
  }

  /** Marks a saved row as written: from now on its object may stand for another one. */
  endSaved(entity: object): void {
    const claim = this.claims.get(entity);
    if (claim !== undefined && claim.row.run.builder === undefined) claim.row.isWritten = true;
  }

  /** Enters the objects of an execution in `claims`, except those that another row under way is made of. */
  note(filled: FilledRows): void {
    // A told execution under way comes first: it has its objects, whatever rows they were before.
    this.noteToldUnderWay();
    for (const { property, rows, held } of filled.columns) {
      for (const [at, object] of rows.entries()) {
        const claim = this.claimOf(object as Part, filled);
        if (claim === undefined) continue;
        const known = claim.ours.indexOf(property);
        const place = known < 0 ? claim.ours.push(property) - 1 : known;
        // An ID that a later row has set in the object stays known.
        if (held !== undefined && !isOurs(claim, property, place)) claim.ids[place] = held[at];
      }
    }
  }

  private claimOf(object: Part, { run, metadata, fillers }: FilledRows): Claim | undefined {
    const present = this.claimOn(object, metadata);
    if (present?.row.run === run) return present;
    // A row under way that had all its IDs sets none in the object: this one does.
    if (present !== undefined && present.isLacking && !isEnded(present.row)) return undefined;
    const row: Row = { run, metadata, filledBy: [...fillers], isWritten: false };
    const claim = this.enter(object, row, present);
    claim.isFilled = claim.isLacking = true;
    return claim;
  }

  private noteRowsUnderWay(): void {
    this.noteToldUnderWay();
    if (this.unnoted.size === 0) return;
    for (const each of this.unnoted) this.note(each);
    this.unnoted.clear();
  }

  private noteToldUnderWay(): void {
    const { told } = this;
    this.told = undefined;
    if (told !== undefined) this.noteTold(told);
  }

  /** The claim on an object; undefined where no call has met it. */
  private claimOn(object: object, metadata: EntityMetadata): Claim | undefined {
    return this.claims.get(object) ?? this.claimLeft(object, metadata);
  }

  /** The claim of a told execution that has ended. Then its entity plays no role any more: any one will do. */
  private claimLeft(object: object, metadata: EntityMetadata): Claim | undefined {
    const left = this.left.filter(({ ids }) => ids.has(object));
    if (left.length === 0) return undefined;
    return {
      row: { run: ENDED, metadata, filledBy: [], isWritten: false },
      part: object as Part,
      ours: left.map(({ property }) => property),
      ids: left.map(({ ids }) => ids.get(object)),
      presentCount: 0,
      isFilled: true,
      isLacking: true,
    };
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
      const { ours } = this.claims.get(parts.at(-1)!)!;
      const isLacking = isUnset(parts.at(-1)![property]);
      if (!isLacking && !ours.includes(property)) continue;
      if (isLacking) ours.push(property);
      for (const each of parts) {
        const claim = this.claims.get(each)!;
        claim.isFilled = true;
        claim.isLacking ||= isLacking;
      }
    }
  }

  /** Claims an object, or a copy of it, for a row. */
  private take(part: Part, properties: readonly string[], row: Row): Part {
    const present = this.claimOn(part, row.metadata);
    if (present?.row === row) return part;
    const own = this.ownOf(part, properties, row);
    this.enter(own, row, own === part ? present : undefined);
    return own;
  }

  /** Claims an object for a row, with the IDs of ours that an earlier one has left in it. */
  private enter(part: Part, row: Row, earlier: Claim | undefined): Claim {
    const ours: string[] = [];
    const ids: unknown[] = [];
    for (const [at, name] of earlier?.ours.entries() ?? []) {
      if (!isOurs(earlier!, name, at)) continue;
      ours.push(name);
      ids.push(part[name]);
    }
    const claim = { row, part, ours, ids, presentCount: ours.length, isFilled: ours.length > 0, isLacking: false };
    this.claims.set(part, claim);
    return claim;
  }

  /** @returns the object itself, or a copy where it is another row's or cannot hold an ID in one of these properties */
  private ownOf(part: Part, properties: readonly string[], { run, metadata }: Pick<Row, 'run' | 'metadata'>): Part {
    const claim = this.claimOn(part, metadata);
    if (claim !== undefined && (isTaken(claim, metadata, run) || isOfBuilder(claim, run))) {
      const isUnderWay = !isEnded(claim.row);
      const isOnce = isUnderWay && run.isUpsert !== true && isSameTable(claim.row.metadata, metadata);
      const isOther = (name: string, at: number): boolean =>
        at < claim.presentCount ? isOnce : isUnderWay || isOurs(claim, name, at);
      return copyWithout(part, claim.ours.filter(isOther));
    }
    return canHold(part, properties) ? part : copyWithout(part, []);
  }
}

/** The claims on all objects, shared by all DataSources and all copies of this package. */
export const rowClaims = processWide('claims of rows', () => new RowClaims());

function rowsOf({ columns }: FilledRows): number {
  return Math.max(0, ...columns.map(({ rows }) => rows.length));
}

/** Whether a row has been written, or has failed. */
function isEnded({ run, isWritten, hasFailed }: Row): boolean {
  return isWritten || hasFailed === true || run.isOver();
}

function isMissing(part: unknown): boolean {
  return part === undefined || part === null;
}

/** Whether a property has the ID that was made for it, and not one that the application has set since. */
function isOurs({ part, ids }: Claim, name: string, at: number): boolean {
  return !isUnset(part[name]) && part[name] === ids[at];
}

function hasOurs(claim: Claim): boolean {
  return claim.ours.some((name, at) => isOurs(claim, name, at));
}

function isSameTable(one: EntityMetadata, other: EntityMetadata): boolean {
  return one === other || (one.tablePath === other.tablePath && dataSourceOf(one) === dataSourceOf(other));
}

/** Whether an object belongs to a row under way: of this table, or of another one that is getting an ID. */
function isTaken({ row, isFilled, isLacking }: Claim, metadata: EntityMetadata, { isUpsert }: InsertRun): boolean {
  if (isEnded(row)) return false;
  return isLacking || (isFilled && isUpsert !== true && isSameTable(row.metadata, metadata));
}

/** Whether an object holds IDs that an earlier execution of the same builder has set. */
function isOfBuilder(claim: Claim, { builder }: InsertRun): boolean {
  const { row, ours, presentCount, isFilled } = claim;
  if (!isFilled || builder === undefined || row.run.builder !== builder || !isEnded(row)) return false;
  return ours.length === 0 || ours.some((name, at) => at >= presentCount && isOurs(claim, name, at));
}

/** Whether an object takes these properties: it can be extended, or has them already and writable. */
function canHold(part: object, properties: readonly string[]): boolean {
  if (Object.isExtensible(part)) return true;
  return properties.every((name) => Object.getOwnPropertyDescriptor(part, name)?.writable === true);
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
