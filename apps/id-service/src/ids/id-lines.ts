import { codecs, type CodecName, type IdService } from '@raindrop/nestjs';
import { LONGEST_ENTRY, writeIdEntries } from './id-entries.js';
import type { StreamPace } from './stream-pace.js';

/** So many IDs are made and written in one go: some 30 µs in decimal, less than 1 ms in every other format. */
const SLICE = 500;

/** How long a slice waits for its IDs. */
const TIMEOUT_MS = 5_000;

export interface IdLinesRequest {
  readonly count: number;
  readonly code?: string | undefined;
  readonly format: CodecName;
}

/** What a stream goes by. */
export interface IdLinesPace {
  readonly pace: Pick<StreamPace, 'next'>;
  /** Breaks it off: the service ends. */
  readonly closing: AbortSignal;
  /** Breaks it off: nobody reads it any more. */
  readonly gone: AbortSignal;
}

/**
 * IDs as lines of JSON, a slice at a time: the next one is made when it is asked for, and when its turn has come, so that
 * neither a slow reader fills the memory nor a quick one keeps the others waiting.
 *
 * @throws (on the way) what the service throws, and the signals' reasons
 */
export async function* idLines(
  ids: Pick<IdService, 'fillAsync'>,
  { count, code, format }: IdLinesRequest,
  { pace, closing, gone }: IdLinesPace,
): AsyncGenerator<Buffer> {
  const cells = new BigInt64Array(Math.min(SLICE, count));
  for (let left = count; left > 0; left -= SLICE) {
    const size = Math.min(SLICE, left);
    await pace.next(code, size);
    closing.throwIfAborted();
    gone.throwIfAborted();
    const slice = await ids.fillAsync(cells.subarray(0, size), code, { timeoutMs: TIMEOUT_MS, signal: gone });
    yield format === 'decimal' ? decimalLines(slice) : encodedLines(slice, codecs[format].encode);
  }
}

function decimalLines(slice: BigInt64Array): Buffer {
  const lines = Buffer.allocUnsafe(slice.length * LONGEST_ENTRY);
  return lines.subarray(0, writeIdEntries(slice, lines, 0, '\n'));
}

/** No format writes a character that JSON would escape. */
function encodedLines(slice: BigInt64Array, encode: (id: bigint) => string): Buffer {
  let lines = '';
  for (const id of slice) lines += `"${encode(id)}"\n`;
  return Buffer.from(lines, 'latin1');
}
