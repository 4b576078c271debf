const TABLE = 'soc_raindrop_worker';
const UPDATE = new RegExp(`UPDATE [\`"]${TABLE}[\`"] SET`);

/** The worker table's name, by which its statements are known. */
export const WORKER_TABLE = TABLE;

/** Whether a client's bytes hold an UPDATE of a worker row: the SQL is readable in both protocols. */
export function changesWorkerRow(request: Buffer): boolean {
  return UPDATE.test(request.toString('latin1'));
}

/** Whether the UPDATE that this answers has changed a row; undefined while the answer is incomplete. */
export function hasChangedRow(answer: Buffer): boolean | undefined {
  // MySQL: length (3), sequence number 1, then 0 for OK and the count of rows, or 255 for an error.
  if (answer.length > 5 && answer[3] === 1 && (answer[4] === 0 || answer[4] === 255)) {
    return answer[4] === 0 && answer[5] === 1;
  }
  // PostgreSQL: CommandComplete, and then ReadyForQuery: only with that has it committed. Or an error.
  const text = answer.toString('latin1');
  if (!/Z\0\0\0\x05[ITE]$/.test(text)) return undefined;
  return text.includes('UPDATE 1\0');
}
