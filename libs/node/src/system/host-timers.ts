/* eslint-disable no-restricted-imports -- the one place that takes them */
import * as nodeTimers from 'node:timers';
import * as promises from 'node:timers/promises';

/**
 * The timers of when this was loaded. Those of Jest, sinon and `node:test` that replace them later stand still: with them
 * no lease would be renewed, no limit would end a wait, and `app.close()` would hang.
 */
export const hostTimers = {
  setTimeout: nodeTimers.setTimeout,
  clearTimeout: nodeTimers.clearTimeout,
  setImmediate: nodeTimers.setImmediate,
  clearImmediate: nodeTimers.clearImmediate,
  /** A promise for a while, ms. */
  sleep: promises.setTimeout,
  /** A promise for a turn of the event loop. */
  turn: promises.setImmediate,
};
