import { processWide } from '@raindrop/core/internal';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';
import { hostTimers } from '@raindrop/node/internal';
import { BusinessNumberConflictError } from './business-number-errors.js';

/** A transaction under way, as the code that runs in it sees it. */
export interface Turn {
  readonly dataSource: DataSource;
  readonly isolationLevel: string | undefined;
  readonly manager: EntityManager;
  /** The one in which it was begun, of whichever DataSource. */
  readonly outer: Turn | undefined;
  /** The end of the last transaction inside it. */
  last: Promise<unknown>;
  isOver: boolean;
}

type Work<T> = (manager: EntityManager) => Promise<T>;

const current = processWide('transaction turns', () => new AsyncLocalStorage<Turn>());

/** The transaction that the caller is in, directly or through those of others: of this DataSource, or of any. */
export function enclosingTurn(dataSource?: DataSource): Turn | undefined {
  let turn = current.getStore();
  while (turn !== undefined && (turn.isOver || turn.dataSource !== (dataSource ?? turn.dataSource))) turn = turn.outer;
  return turn;
}

/** Runs the work of a transaction, which what is called in it can find. */
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

/** Runs a transaction inside another one of the same DataSource, as a savepoint of it, after those that are inside already. */
export function inside<T>(turn: Turn, work: Work<T>, onceOver: () => Promise<T>): Promise<T> {
  const result = turn.last.then(() =>
    turn.isOver ? onceOver() : turn.manager.transaction((manager) => asTurn(turn, manager, work)),
  );
  turn.last = settled(result);
  return result;
}

/** The end of the last transaction of each SQLite DataSource: TypeORM would put two at once into one another. */
const ends = processWide('ends of SQLite transactions', () => new WeakMap<DataSource, Promise<unknown>>());

/** In place of a driver's code: the transaction around this one has to end first. */
export const TURN_TIMEOUT = 'TURN_TIMEOUT';

/** Two transactions that want each other's turn give up at different moments. */
const NESTED_WAIT_MS = 1_000;

/**
 * Runs a transaction that is in no other one of its DataSource; on SQLite after all before it.
 * @throws BusinessNumberConflictError inside one of another DataSource, after 1 to 2 s: the two may wait for each other
 */
export async function inTurn<T>(dataSource: DataSource, transaction: () => Promise<T>): Promise<T> {
  if (dataSource.options.type !== 'better-sqlite3') return transaction();
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
