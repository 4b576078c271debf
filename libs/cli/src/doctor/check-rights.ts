import type { WorkerStore, WorkerTable } from '@raindrop/core';
import { DatabaseRefusedError } from '@raindrop/node';
import { SqlWorkerStore } from '@raindrop/node/internal';
import { fail, ok, type Finding } from './finding.js';

/** No row was ever written so: the statement is executed, and changes nothing. */
const NOBODY = { version: -1, token: 'raindrop doctor' };

const NOTHING = { ms: 0, sequence: -1 };

/**
 * Whether the account may do what a start does: in a table tried in a transaction that is rolled back, elsewhere by a write
 * that finds no row. SELECT is proven by the table that was read.
 */
export async function checkRights(store: WorkerStore, { rows }: WorkerTable, layout: string): Promise<Finding> {
  try {
    if (store instanceof SqlWorkerStore) {
      await store.tryStart(layout);
      return ok('rights', 'the account may SELECT, UPDATE, INSERT');
    }
    await store.write({
      ...{ id: rows[0]?.id ?? 0, expected: NOBODY, token: '', holder: '', layout: '', lane: 0, code: '' },
      ...{ odometers: [NOTHING, NOTHING], timeUnit: 0, leaseMs: 0 },
    });
    return ok('rights', 'the account may SELECT, UPDATE');
  } catch (error) {
    if (!(error instanceof DatabaseRefusedError)) throw error;
    return fail('rights', error.reason, 'grant the account SELECT, INSERT and UPDATE on all three tables');
  }
}
