import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@raindrop/core/internal';
import type { Table } from '@raindrop/node/internal';
import type { DataSource, QueryRunner } from 'typeorm';
import { BusinessNumberConflictError } from './business-number-errors.js';
import type { NumberKey } from './number-key.js';
import { enclosingTurn } from './transaction-turns.js';

/** The rows that a transaction has locked, as code sees it that was called in it. */
export interface HeldKeys {
  readonly runner: QueryRunner;
  readonly dataSource: DataSource;
  readonly keys: Set<string>;
  readonly outer: HeldKeys | undefined;
}

const heldNow = processWide('held numbers', () => new AsyncLocalStorage<HeldKeys>());

/** In place of a driver's code. */
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
