import type { OptionReader } from '@raindrop/core/internal';
import { refuse } from './misplaced-options.js';
import { forgetsUse, isReserving, type AssignerUse } from './assigner-use.js';

/** What says where a database keeps worker ids. */
const OF_THE_DATABASE = ['dbConfig', 'tableName'] as const;

/** How a lease is kept; a state file has its own numbers. */
const OF_THE_LEASE = [
  ...['heartbeatIntervalMs', 'leaseMs', 'horizonMs', 'graceMs', 'commitLossWindowMs', 'maxClockSkewMs'],
  ...['priorityEqualCodeWorkId', 'adoptForeign'],
];

/** Options that none of the assigners reads: they would be ignored, and whoever wrote them believes otherwise. */
export function refuseUnusedOptions(reader: OptionReader, uses: readonly AssignerUse[]): void {
  if (!uses.some((use) => use === 'database' || use === 'disposable')) {
    for (const option of OF_THE_DATABASE) {
      refuse(reader, option, `is for workerIdAssigner: 'database' and 'disposable' only: nothing else is kept there`);
    }
  }
  if (!uses.includes('database')) {
    refuse(reader, 'sharedWithOriginal', `is for workerIdAssigner: 'database' only: the original knows no other`);
  }
  if (!uses.some(isReserving)) {
    for (const option of OF_THE_LEASE)
      refuse(reader, option, `is for leased worker ids only: 'database', redisWorkers()`);
  }
  if (!uses.includes('static')) refuse(reader, 'workerId', `is for workerIdAssigner: 'static' only`);
  if (!uses.some(forgetsUse)) {
    for (const option of ['stateFile', 'restartWaitMs']) {
      refuse(reader, option, `is for assigners that do not know how far a worker id was used; this one does`);
    }
  }
}
