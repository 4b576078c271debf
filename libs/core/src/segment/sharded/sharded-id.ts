import { type IdLike, toId } from '../../codec/to-id.js';
import { showValue } from '../../show-value.js';
import { PermanentError } from '../../raindrop-error.js';
import { InvalidAppError, InvalidGatePassError, MAX_GATE_PASS_LENGTH } from './sharded-errors.js';

/** The highest app; the lowest is 0. */
export const MAX_APP = 255;
/** The highest index, 2^49 - 1; the lowest that is issued is 1. */
export const MAX_INDEX = 2n ** 49n - 1n;

/** The parts of a sharded ID: `index << 14 | shard << 8 | app`. */
export interface ShardedIdParts {
  /** Counts an app's IDs within a shard, 0 to 2^49 - 1. */
  readonly index: bigint;
  /** 0 to 63. */
  readonly shard: number;
  /** 0 to 255. */
  readonly app: number;
}

/** The distance between the IDs of one app and shard. */
const INDEX_STEP = 16_384n;
const SHARD_STEP = 256;

/** The parts make no sharded ID. */
export class InvalidShardedIdPartError extends PermanentError {
  static override readonly name = 'InvalidShardedIdPartError';
  readonly errorCode = 'INVALID_SHARDED_ID_PART';

  constructor(
    readonly part: 'index' | 'shard',
    readonly given: unknown,
  ) {
    const legal = part === 'index' ? 'a bigint from 0 to 2^49 - 1' : `an integer from 0 to ${SHARDS - 1}`;
    super(`${part} must be ${legal}, not ${showValue(given)}.`);
  }
}

/** Checks an app. @throws InvalidAppError when `app` is not an integer from 0 to 255 */
export function checkApp(app: number): void {
  if (!Number.isInteger(app) || app < 0 || app > MAX_APP) throw new InvalidAppError(app);
}

/**
 * Puts a sharded ID together. IDs of different apps are never equal, nor are those of different shards.
 *
 * @throws InvalidAppError, InvalidShardedIdPartError
 */
export function composeShardedId({ index, shard, app }: ShardedIdParts): bigint {
  checkApp(app);
  if (!Number.isInteger(shard) || shard < 0 || shard >= SHARDS) throw new InvalidShardedIdPartError('shard', shard);
  if (typeof index !== 'bigint' || index < 0n || index > MAX_INDEX) throw new InvalidShardedIdPartError('index', index);
  return index * INDEX_STEP + BigInt(shard * SHARD_STEP + app);
}

/**
 * Takes a sharded ID apart. Any ID can be taken apart: it does not show whether it was issued as a sharded one.
 *
 * @throws InvalidIdError when `id` is not a bigint, a canonical decimal string or a safe number in range
 */
export function parseShardedId(id: IdLike): ShardedIdParts {
  const value = toId(id);
  const low = Number(value % INDEX_STEP);
  return { index: value / INDEX_STEP, shard: Math.floor(low / SHARD_STEP), app: low % SHARD_STEP };
}

/** Over how many shards each app's numbers are spread. */
export const SHARDS = 64;

/**
 * Returns the shard of a gate pass: `Math.abs(hash) % 64` with the hash of Java's `String.hashCode`, so that programs
 * in other languages find the same one. Texts that are written differently (`A@b.c`, `a@b.c`) may have different shards.
 *
 * @param gatePass a user name, a phone number, an e-mail address: 1 to 512 UTF-16 units
 * @returns 0 to 63
 * @throws InvalidGatePassError
 */
export function shardOf(gatePass: string): number {
  if (typeof gatePass !== 'string' || gatePass.length < 1 || gatePass.length > MAX_GATE_PASS_LENGTH) {
    throw new InvalidGatePassError(gatePass);
  }
  // Where Math.abs differs from Java's, at -2^31, the remainder is 0 in both.
  return Math.abs(javaHashOf(gatePass)) % SHARDS;
}

/**
 * `s[0] * 31^(n-1) + ... + s[n-1]` over UTF-16 units, as a signed 32-bit integer.
 * @see https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/String.html#hashCode()
 */
function javaHashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
