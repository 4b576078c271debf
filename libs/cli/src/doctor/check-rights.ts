import type { WorkerStore, WorkerTable } from '@raindrop/core';
import { DatabaseRefusedError } from '@raindrop/node';
import { SqlWorkerStore } from '@raindrop/node/internal';
import { fail, ok, type Finding } from './finding.js';

/** No row was ever written so: the statement is executed, and changes nothing. */
const NOBODY = { version: -1, token: 'raindrop doctor' };

/**
 * Whether the account may do what a service does, tried with statements that change nothing: SELECT is proven by the
 * table that was read.
 */
export async function checkRights(store: WorkerStore, { rows, layouts }: WorkerTable): Promise<Finding> {
  const tried = ['SELECT'];
  try {
    await store.write({
      ...{ id: rows[0]?.id ?? 0, expected: NOBODY, token: '', holder: '', layout: '', lane: 0, code: '' },
      ...{ odometers: [NOTHING, NOTHING], timeUnit: 0, leaseMs: 0 },
    });
    if (store instanceof SqlWorkerStore) await store.tryToNote();
    tried.push('UPDATE');
    const known = layouts[0];
    if (known !== undefined) {
      await store.rememberLayout(known);
      tried.push('INSERT');
    }
    const untried = known === undefined ? '; INSERT is tried at the first start' : '';
    return ok('rights', `the account may ${tried.join(', ')}${untried}`);
  } catch (error) {
    if (!(error instanceof DatabaseRefusedError)) throw error;
    return fail('rights', error.reason, 'grant the account SELECT, INSERT and UPDATE on all three tables');
  }
}

const NOTHING = { ms: 0, sequence: -1 };
