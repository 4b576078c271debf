import {
  type DataSource,
  type EntityMetadata,
  type EntitySubscriberInterface,
  InsertQueryBuilder,
  type QueryRunner,
} from 'typeorm';
import { dialectOf } from '@raindrop/node/internal';
import { dataSourceOf } from '../connection/data-source-of.js';
import { type GeneratedColumn, generatedColumnsOf } from './generated-column.js';
import { Execution } from './insert-runs.js';
import { copyWithout, type FilledColumn, type FilledRows, rowClaims } from './row-claims.js';
import type { IdValue } from '@raindrop/core/internal';
import type { AppQuery } from './real-columns.js';
import { isSnowflakeSubscriber, type SnowflakeSubscriber } from './snowflake-subscriber.js';
import { ToldRows } from './told-rows.js';

const INSTALLED = Symbol.for('@raindrop/typeorm:insert-rows');

/** The used part of a query builder. */
interface Builder {
  readonly dataSource: DataSource;
  readonly queryRunner?: QueryRunner;
  expressionMap: ExpressionMap;
  execute: (this: Builder) => Promise<unknown>;
  getQueryAndParameters: (this: Builder) => unknown;
  [INSTALLED]?: true;
}

interface ExpressionMap {
  readonly mainAlias?: { readonly hasMetadata: boolean; readonly metadata: EntityMetadata };
  /** Set by `valuesFromSelect`: no objects are written. */
  readonly insertFromSelect?: unknown;
  readonly callListeners: boolean;
  onUpdate: { readonly overwrite?: readonly string[]; readonly conflict?: string | readonly string[] } | undefined;
  onIgnore: boolean;
  valuesSet?: object | readonly object[];
  parameters: object;
  locallyGenerated: object;
}

/** The record of an executed query builder. */
interface Executed {
  /** Stands for the builder: its objects, which outlive it, shall not keep it. */
  readonly token: object;
  /** The rows that its latest execution filled. */
  filled?: FilledRows;
  /** The same where TypeORM told its subscribers of them, and no other call began meanwhile. */
  told?: ToldRows;
}

const EXECUTED = new WeakMap<Builder, Executed>();

/** One execution of a query builder, by a copy of it. */
interface Insert {
  readonly builder: Builder;
  readonly dataSource: DataSource;
  readonly metadata: EntityMetadata;
  /** The objects that the caller has given. */
  readonly given: readonly object[];
  /** The columns that lack IDs in some of them. */
  readonly columns: readonly GeneratedColumn[];
  /** The subscribers that fill them, column by column; undefined for embedded IDs, and where a service is missing. */
  readonly fillers: readonly SnowflakeSubscriber[] | undefined;
  readonly executed: Executed;
  readonly run: Execution;
  execute: (this: Builder) => Promise<unknown>;
}

/**
 * Replaces `execute` of the query builders that insert: each place of their values is a row of its own. An object that
 * stands for more rows than one describes the first of them; the others are written from copies, as an object can hold
 * one ID only.
 *
 * The subscribers that fill rows would be told of each row before and after the insert, which takes 5 to 10 % of it.
 * Where TypeORM has no one else to tell, all rows are filled here instead, and it tells no one.
 */
export function separateRows(): void {
  const builders = InsertQueryBuilder.prototype as unknown as Builder;
  if (builders[INSTALLED] === true) return;
  Object.defineProperty(builders, INSTALLED, { value: true });
  const { execute } = builders;
  builders.execute = async function () {
    const { mainAlias, callListeners, insertFromSelect, valuesSet } = this.expressionMap;
    if (mainAlias?.hasMetadata !== true) return execute.call(this);
    const { metadata } = mainAlias;
    const columns = generatedColumnsOf(metadata);
    if (columns.length === 0) return execute.call(this);
    const dataSource = dataSourceOf(this);
    keepIds(this.expressionMap, columns, /mysql|mariadb/.test(dataSource.options.type));
    const write = dataSource.subscribers.some(isLooking) ? lookThen(execute) : execute;
    const hasRows = typeof valuesSet === 'object' && insertFromSelect === undefined;
    if (!callListeners || !hasRows) return write.call(write === execute ? this : copyOf(this));
    const executed = EXECUTED.get(this) ?? { token: {} };
    EXECUTED.set(this, executed);
    // Holes in the array are no rows.
    const given = Array.isArray(valuesSet) ? (valuesSet as object[]).filter(() => true) : [valuesSet];
    const { onUpdate, onIgnore } = this.expressionMap;
    const run = new Execution(executed.token, onUpdate !== undefined || onIgnore);
    const builder = copyOf(this);
    const fillers = fillersOf(dataSource, columns);
    const insert = { builder, dataSource, metadata, given, columns, fillers, executed, run, execute: write };
    if (executed.filled !== undefined) rowClaims.note(executed.filled);
    if (executed.told !== undefined) rowClaims.noteTold(executed.told);
    delete executed.filled;
    delete executed.told;
    const isFilledAtOnce = fillers !== undefined && !isAnyoneTold(dataSource, metadata);
    return isFilledAtOnce ? insertFilled(insert, fillers) : insertTold(insert);
  };
}

/** Whether a service has not looked at its columns in the database yet. */
function isLooking(subscriber: object): boolean {
  return isSnowflakeSubscriber(subscriber) && subscriber.look !== undefined;
}

/** Looks at the columns before the statement is sent, over its own connection: the pool may have no other. */
function lookThen(execute: Builder['execute']): Builder['execute'] {
  return async function () {
    const { queryRunner: runner } = this;
    const dataSource = dataSourceOf(this);
    const query: AppQuery = (sql, parameters) =>
      runner?.isTransactionActive === true && dialectOf(dataSource.options.type).failureEndsTransaction
        ? queryInSavepoint(runner, sql, parameters)
        : dataSource.query(sql, parameters, runner);
    for (const each of dataSource.subscribers.filter(isSnowflakeSubscriber)) await each.look?.(query);
    return execute.call(this);
  };
}

/** For databases where a statement that fails ends the transaction: the application's own is to go on. */
async function queryInSavepoint(runner: QueryRunner, sql: string, parameters: unknown[]): Promise<unknown> {
  await runner.query('SAVEPOINT raindrop_look');
  try {
    const rows: unknown = await runner.query(sql, parameters);
    await runner.query('RELEASE SAVEPOINT raindrop_look');
    return rows;
  } catch (error) {
    await runner.query('ROLLBACK TO SAVEPOINT raindrop_look');
    throw error;
  }
}

/**
 * Takes generated columns out of what an upsert writes into a row that exists: a row keeps its ID, also where the application
 * gave one to the object that met it. TypeORM leaves them out of `upsert()` from version 1 on where it does not find the row
 * by them, and never of `orUpdate()`.
 */
function keepIds(map: ExpressionMap, columns: readonly GeneratedColumn[], isMysql: boolean): void {
  const { overwrite, conflict } = map.onUpdate ?? {};
  if (overwrite === undefined) return;
  // Most databases ignore the case of names.
  const ours = new Set(columns.map(({ column }) => column.databaseName.toLowerCase()));
  const isOther = (name: string): boolean => !ours.has(name.toLowerCase());
  const others = overwrite.filter(isOther);
  if (others.length === overwrite.length) return;
  // Something has to be updated: the columns in which the rows are the same. MySQL compares all unique ones.
  const same = Array.isArray(conflict)
    ? (conflict as readonly string[]).filter((name) => !isMysql || isOther(name))
    : [];
  map.onUpdate = { ...map.onUpdate, overwrite: others.length > 0 ? others : same };
  if (!isMysql || map.onUpdate.overwrite!.length > 0) return;
  // As TypeORM does from version 1 on. Before, it would send no SQL.
  map.onUpdate = undefined;
  map.onIgnore = true;
}

/** Lets TypeORM tell its subscribers of the rows. Ours are among them, and fill one row after the other. */
async function insertTold(insert: Insert): Promise<unknown> {
  const { builder, metadata, given, columns, executed, run, execute } = insert;
  let told: ToldRows | undefined;
  try {
    told = toldAlone(insert);
    builder.expressionMap.valuesSet = told?.rows ?? rowClaims.begin(given, metadata, columns, run);
    return await execute.call(builder);
  } finally {
    run.end();
    if (told !== undefined && rowClaims.endTold(told)) executed.told = told;
  }
}

/** Begins the rows without a claim on each object. @returns undefined where `rowClaims.begin()` has to claim them */
function toldAlone({ given, metadata, columns, fillers, run }: Insert): ToldRows | undefined {
  if (fillers === undefined) return undefined;
  const told = new ToldRows(run, metadata, given, columns, [...new Set(fillers)]);
  return rowClaims.beginTold(told) ? told : undefined;
}

/** Fills all rows, column by column, and writes them. */
async function insertFilled(insert: Insert, fillers: readonly SnowflakeSubscriber[]): Promise<unknown> {
  const { builder, dataSource, metadata, given, columns, executed, run, execute } = insert;
  const properties = columns.map(({ property }) => property);
  const rows = rowClaims.separate(given, metadata, properties, run);
  if (rows === undefined) return insertTold(insert);
  const lacking = columns.map((each, at) => new LackingRows(rows, each, fillers[at]!));
  const filled = { run, metadata, fillers, columns: lacking };
  rowClaims.beginFilled(filled);
  const transaction = builder.queryRunner?.isTransactionActive === true ? builder.queryRunner : undefined;
  let isWritten = false;
  try {
    let hasWaited = false;
    for (const each of lacking) {
      const waiting = each.take();
      if (waiting === undefined) continue;
      hasWaited = true;
      await waiting;
    }
    if (hasWaited) for (const each of lacking) each.clear();
    for (const each of lacking) each.fill(rows);
    builder.expressionMap.valuesSet = rows;
    // TypeORM asks before the insert and after it. A subscriber that was added by then is told, and so are the fillers.
    let isBefore = true;
    Object.defineProperty(builder.expressionMap, 'callListeners', {
      get: () => {
        const isTold = isAnyoneTold(dataSource, metadata);
        if (isTold) rowClaims.note(filled);
        if (isTold && isBefore) rowClaims.letTell(filled);
        isBefore = false;
        return isTold;
      },
    });
    // TypeORM waits between telling and writing, too: `execute()` returns before a subscriber hears of a statement.
    await Promise.resolve();
    const result = await execute.call(builder);
    isWritten = true;
    return result;
  } finally {
    run.end();
    rowClaims.endFilled(filled, isWritten, transaction);
    executed.filled = filled;
  }
}

/**
 * A copy of a builder for one execution. TypeORM reads a builder's values again and again while it is executed, and
 * changes its parameters: the caller may execute, clone or change the builder at the same time.
 */
function copyOf(builder: Builder): Builder {
  const { expressionMap } = builder;
  const copy = Object.assign(Object.create(Object.getPrototypeOf(builder) as object) as Builder, builder);
  // By spread: V8 makes a dictionary of what `Object.assign()` gives more than twelve properties, and TypeORM reads them for
  // every parameter.
  copy.expressionMap = { ...expressionMap };
  Object.setPrototypeOf(copy.expressionMap, Object.getPrototypeOf(expressionMap) as object);
  copy.expressionMap.parameters = { ...expressionMap.parameters };
  copy.expressionMap.locallyGenerated = {};
  const { getQueryAndParameters } = copy;
  // Values that are functions, and methods that the caller has replaced, use the builder itself: while a statement is made
  // it has the rows and the parameters of the copy.
  copy.getQueryAndParameters = () => {
    const kept = builder.expressionMap;
    builder.expressionMap = copy.expressionMap;
    try {
      return getQueryAndParameters.call(copy);
    } finally {
      builder.expressionMap = kept;
    }
  };
  return copy;
}

/** The rows that lack an ID in one column. */
class LackingRows implements FilledColumn {
  readonly property: string;
  readonly rows: object[] = [];
  held?: readonly unknown[];
  /** Where the rows stand among all rows. */
  private readonly places: number[] = [];
  private ids: readonly IdValue[] = [];

  constructor(
    all: readonly object[],
    private readonly column: GeneratedColumn,
    private readonly filler: SnowflakeSubscriber,
  ) {
    this.property = column.property;
    for (let place = 0; place < all.length; place++) {
      const row = all[place]!;
      if (column.isSet(row)) continue;
      this.places.push(place);
      this.rows.push(row);
    }
  }

  /** Takes an ID for each row. @returns a promise only where they have to be waited for @throws RaindropError */
  take(): Promise<void> | undefined {
    const taken = this.filler.take(this.column, this.rows.length);
    if (taken instanceof Promise) return taken.then((ids) => void (this.ids = ids));
    this.ids = taken;
    return undefined;
  }

  /** Takes away what the caller has set while the IDs were waited for: they replace it where TypeORM waits, too. */
  clear(): void {
    for (const row of this.rows) if (this.column.isSet(row)) this.column.put(row, undefined);
  }

  /** Sets the IDs, and puts copies in the place of objects that are an earlier row already. */
  fill(all: object[]): void {
    const { column, ids, places, property, rows } = this;
    for (let at = 0; at < places.length; at++) {
      const place = places[at]!;
      const row = all[place]!;
      const own = column.isSet(row) ? copyWithout(row, [property]) : row;
      column.put(own, ids[at]);
      all[place] = own;
      rows[at] = own;
    }
    this.held = ids;
  }
}

/** The subscribers that fill columns, column by column. Undefined for embedded IDs, which may belong to several rows. */
function fillersOf(
  { subscribers }: DataSource,
  columns: readonly GeneratedColumn[],
): SnowflakeSubscriber[] | undefined {
  if (columns.some(({ holders }) => holders.length > 0)) return undefined;
  const fillers = subscribers.filter(isFiller);
  const found = columns.flatMap(({ mark }) => fillers.find(({ source }) => source.name === mark.service) ?? []);
  return found.length === columns.length ? found : undefined;
}

/** Whether TypeORM tells others than the fillers of inserted rows. */
function isAnyoneTold({ subscribers }: DataSource, metadata: EntityMetadata): boolean {
  const { afterInsertListeners, beforeInsertListeners, target } = metadata;
  if (beforeInsertListeners.length > 0 || afterInsertListeners.length > 0) return true;
  return subscribers.some((each) => !isFiller(each) && isToldOf(each, target));
}

/** By its shape: it may be of another copy of this package, and of an older one. */
function isFiller(subscriber: object): subscriber is SnowflakeSubscriber {
  return isSnowflakeSubscriber(subscriber) && typeof (subscriber as Partial<SnowflakeSubscriber>).take === 'function';
}

/** Whether TypeORM tells a subscriber of an entity's inserts, decided as TypeORM does. */
function isToldOf(subscriber: EntitySubscriberInterface, target: EntityMetadata['target']): boolean {
  if (subscriber.beforeInsert === undefined && subscriber.afterInsert === undefined) return false;
  const listensTo = subscriber.listenTo?.();
  if (!listensTo || listensTo === Object || listensTo === target) return true;
  return typeof listensTo !== 'function' || Object.prototype.isPrototypeOf.call(listensTo, target);
}
