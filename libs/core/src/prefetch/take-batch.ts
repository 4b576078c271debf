import { MAX_ID } from '../codec/max-id.js';
import type { IdBatchSource } from './id-batch-source.js';
import { InvalidIdBatchError } from './prefetch-errors.js';

/**
 * Takes IDs from a source and looks at what it answers.
 * @throws InvalidIdBatchError; what the source throws
 */
export async function takeBatch(source: IdBatchSource, count: number, code?: string): Promise<readonly bigint[]> {
  const ids: unknown = await source.take(count, code);
  if (!Array.isArray(ids)) throw new InvalidIdBatchError(source.name, ids, 'no list');
  if (ids.length < 1 || ids.length > count) {
    throw new InvalidIdBatchError(source.name, ids.length, `a list of a length that is not from 1 to ${count}`);
  }
  const wrong = ids.findIndex((id) => typeof id !== 'bigint' || id < 0n || id > MAX_ID);
  if (wrong >= 0) throw new InvalidIdBatchError(source.name, ids[wrong], 'not made of IDs');
  const repeated = repeatedIn(ids as bigint[]);
  if (repeated !== undefined) throw new InvalidIdBatchError(source.name, repeated, 'a list with an ID twice');
  return ids as bigint[];
}

/** An ID that stands in a batch twice. Most batches increase, and then nothing more has to be looked at. */
function repeatedIn(ids: readonly bigint[]): bigint | undefined {
  if (ids.every((id, index) => index === 0 || id > ids[index - 1]!)) return undefined;
  const seen = new Set<bigint>();
  for (const id of ids) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return undefined;
}
