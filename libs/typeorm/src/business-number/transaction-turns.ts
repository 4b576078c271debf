import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { processWide } from '@raindrop/core/internal';
import { hostTimers, isFileDatabase, type Table } from '@raindrop/node/internal';
import { BusinessNumberConflictError } from './business-number-errors.js';
import type { NumberKey } from './business-number-options.js';

/** A transaction under way, as the code that runs in it sees it. */
export interface Turn {
  readonly dataSource: DataSource;
  readonly isolationLevel: string | undefined;
  readonly manager: EntityManager;
  /** The transaction around it, of the same DataSource or of another one. */
  readonly outer: Turn | undefined;
  /** The end of the last transaction inside it. */
  last: Promise<unknown>;
  isOver: boolean;
}

type Work<T> = (manager: EntityManager) => Promise<T>;

const current = processWide('transaction turns', () => new AsyncLocalStorage<Turn>());

/** The innermost transaction around the caller that belongs to this DataSource, or to any DataSource. */
export function enclosingTurn(dataSource?: DataSource): Turn | undefined {
  let turn = current.getStore();
  while (turn !== undefined && (turn.isOver || turn.dataSource !== (dataSource ?? turn.dataSource))) turn = turn.outer;
  return turn;
}

/** Runs the work of a transaction; code that the work calls finds the transaction by `AsyncLocalStorage`. */
export async function asTurn<T>(
  { dataSource, isolationLevel }: Pick<Turn, 'dataSource' | 'isolationLevel'>,
  manager: EntityManager,
  work: Work<T>,
): Promise<T> {
  const outer = current.getStore();
  const turn = { dataSource, isolationLevel, manager, outer, last: Promise.resolve(), isOver: false };
  try {
    return await current.run(turn, () => work(manager));
  } finally {
    turn.isOver = true;
  }
}

/** Runs a transaction as a savepoint of another one of the same DataSource, after the savepoints that were begun before. */
export function inside<T>(turn: Turn, work: Work<T>, onceOver: () => Promise<T>): Promise<T> {
  const result = turn.last.then(() =>
    turn.isOver ? onceOver() : turn.manager.transaction((manager) => asTurn(turn, manager, work)),
  );
  turn.last = settled(result);
  return result;
}

/** The end of the last transaction of each SQLite DataSource: TypeORM would put two at once into one another. */
const ends = processWide('ends of SQLite transactions', () => new WeakMap<DataSource, Promise<unknown>>());

/** Stands in for a driver's error code: the transaction around this one has to end first. */
export const TURN_TIMEOUT = 'TURN_TIMEOUT';

/** The wait is random, so two transactions that wait for each other's turn give up at different moments. */
const NESTED_WAIT_MS = 1_000;

/**
 * Runs a transaction that is in no other one of its DataSource; on SQLite after all before it.
 * @throws BusinessNumberConflictError inside one of another DataSource, after 1 to 2 s: the two may wait for each other
 */
export async function inTurn<T>(dataSource: DataSource, transaction: () => Promise<T>): Promise<T> {
  if (!isFileDatabase(dataSource.options.type)) return transaction();
  const before = ends.get(dataSource) ?? Promise.resolve();
  const ready = enclosingTurn() === undefined ? before : Promise.race([before, nestedWait()]);
  const result = ready.then(transaction);
  ends.set(dataSource, Promise.all([before, settled(result)]));
  return result;
}

async function nestedWait(): Promise<never> {
  await hostTimers.sleep(NESTED_WAIT_MS * (1 + Math.random()), undefined, { ref: false });
  throw new BusinessNumberConflictError(TURN_TIMEOUT, undefined);
}

function settled(call: Promise<unknown>): Promise<unknown> {
  return call.catch(() => undefined);
}

/** The rows that a transaction has locked, as seen by the code that runs in it. */
export interface HeldKeys {
  readonly runner: QueryRunner;
  readonly dataSource: DataSource;
  readonly keys: Set<string>;
  readonly outer: HeldKeys | undefined;
}

const heldNow = processWide('held numbers', () => new AsyncLocalStorage<HeldKeys>());

/** Stands in for a driver's error code. */
const HELD_BY_CALLER = 'HELD_BY_CALLER';

/**
 * The keys of a runner's transaction. Whatever its caller does from now on is done inside that transaction; so this is to
 * be called before anything is awaited.
 */
export function keysHeldBy(runner: QueryRunner, dataSource: DataSource): HeldKeys {
  let outer = heldNow.getStore();
  while (outer !== undefined && !isUnderWay(outer.runner)) outer = outer.outer;
  if (outer?.runner === runner) return outer;
  const own = { runner, dataSource, keys: new Set<string>(), outer };
  heldNow.enterWith(own);
  return own;
}

/**
 * Notes that a key's row is about to be locked.
 * @throws BusinessNumberConflictError in transactionWithRetries(), which tries again, when a transaction around it has
 *   locked the row on another connection: most likely that one waits for this one
 */
export function hold(held: HeldKeys, { name }: Table, { series, per, period }: NumberKey): void {
  const isRetried = enclosingTurn(held.dataSource)?.manager.queryRunner === held.runner;
  const key = JSON.stringify([name.schema, name.name, series, per, period]);
  for (let each = held.outer; isRetried && each !== undefined; each = each.outer) {
    const isSame = each.dataSource === held.dataSource && each.runner !== held.runner && each.keys.has(key);
    if (isSame && isUnderWay(each.runner)) throw new BusinessNumberConflictError(HELD_BY_CALLER, undefined);
  }
  held.keys.add(key);
}

function isUnderWay({ isTransactionActive, isReleased }: QueryRunner): boolean {
  return isTransactionActive && !isReleased;
}
