import { workerScripts } from '../../../libs/node/src/redis/worker-store/worker-scripts.js';

/** How the writes that matter are told from everything else on a connection. */
export interface WriteTraffic {
  /** Whether a client's bytes hold such a write. */
  isWrite(request: Buffer): boolean;
  /** Whether the write that this answers has changed something; undefined while the answer is incomplete. */
  hasChanged(answer: Buffer): boolean | undefined;
}

/** UPDATEs of these tables: the SQL is readable in the protocols of MySQL and PostgreSQL. */
export function updatesOf(...tables: readonly string[]): WriteTraffic {
  const update = new RegExp(`UPDATE [\`"](${tables.join('|')})[\`"] SET`);
  return { isWrite: (request) => update.test(request.toString('latin1')), hasChanged: hasChangedRow };
}

/** Scripts that a Redis runs. */
export const SCRIPTS: WriteTraffic = {
  isWrite: (request) => /\r\nevalsha\r\n/i.test(request.toString('latin1')),
  // A list is the answer of a script that came to its end.
  hasChanged: (answer) => (answer.length === 0 ? undefined : answer[0] === '*'.charCodeAt(0)),
};

/** The script that writes a worker's row: at the end of its list it answers whether it has. */
export const REDIS_WORKER_WRITES: WriteTraffic = {
  isWrite: (request) => request.includes(workerScripts.write.sha),
  hasChanged: (answer) => {
    const text = answer.toString('latin1');
    if (/^[-+].*\r\n$/.test(text)) return false;
    return /^\*4\r\n[^]*:[01]\r\n$/.test(text) ? text.endsWith(':1\r\n') : undefined;
  },
};

function hasChangedRow(answer: Buffer): boolean | undefined {
  // MySQL: length (3), sequence number 1, then 0 for OK and the count of rows, or 255 for an error.
  if (answer.length > 5 && answer[3] === 1 && (answer[4] === 0 || answer[4] === 255)) {
    return answer[4] === 0 && answer[5] === 1;
  }
  // PostgreSQL: CommandComplete, and then ReadyForQuery: only with that has it committed. Or an error.
  const text = answer.toString('latin1');
  if (!/Z\0\0\0\x05[ITE]$/.test(text)) return undefined;
  return text.includes('UPDATE 1\0');
}
