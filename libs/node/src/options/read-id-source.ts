import type { OptionReader } from '@raindrop/core/internal';
import { refuse } from './misplaced-options.js';
import type { IdSource } from '../ports/id-source.js';

/** What is for a worker id of one's own. */
const OF_A_WORKER_ID = [
  ...['workerIdAssigner', 'workerId', 'stateFile', 'restartWaitMs', 'dbConfig', 'tableName'],
  ...['serviceMinWorkId', 'serviceMaxWorkId', 'leaseMs', 'waitForWorkerMs'],
];

/** Reads `idSource`, with a reader that others share. */
export function readIdSource(reader: OptionReader): IdSource | undefined {
  const given = reader.value('idSource') as Partial<IdSource> | null | undefined;
  if (given === undefined) return undefined;
  if (typeof given?.open !== 'function') {
    // It may hold a password.
    reader.problem(
      'idSource',
      `(${typeof given})`,
      'must be what clusterPrimary(), remoteIds() or remoteIdsTcp() returns',
    );
    return undefined;
  }
  for (const option of OF_A_WORKER_ID) {
    refuse(reader, option, 'is for a worker id of its own: with idSource another process has it');
  }
  return given as IdSource;
}
