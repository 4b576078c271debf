import type { EventEmitter } from 'node:events';
import { endianness } from 'node:os';
import { codecs, type CodecName } from '@raindrop/nestjs';

/** Where a 64-bit cell, seen as two 32-bit words, has its lower one. */
const LOW = endianness() === 'LE' ? 0 : 1;
const HIGH = 1 - LOW;

/** The most bytes that one ID takes. */
const LONGEST_ENTRY = '"9223372036854775807",'.length;

/** The texts `0000` to `9999`, each as one 32-bit word. */
const TAILS = Int32Array.from({ length: 10_000 }, (_, tail) =>
  Buffer.from(String(tail).padStart(4, '0')).readInt32LE(),
);

const START = '{"ids":[';

/**
 * `{"ids":["…","…"]}` with the IDs (of which there is one at least) in decimal.
 *
 * @param json what to write into, {@link idsJsonSize} long at least
 * @returns the part that was written
 */
export function idsJson(ids: BigInt64Array, json: Buffer): Buffer {
  const end = writeIdEntries(ids, json, json.write(START, 'latin1'), ',');
  // Over the last entry's comma.
  return json.subarray(0, end - 1 + json.write(']}', end - 1, 'latin1'));
}

/** The most bytes that the JSON of so many IDs takes. */
export function idsJsonSize(count: number): number {
  return START.length + count * LONGEST_ENTRY + 1;
}

/** Each ID as a line of JSON: `"…"\n`. No format writes a character that JSON would escape. */
export function idLines(ids: BigInt64Array, format: CodecName): Buffer {
  if (format === 'decimal') {
    const lines = Buffer.allocUnsafe(ids.length * LONGEST_ENTRY);
    return lines.subarray(0, writeIdEntries(ids, lines, 0, '\n'));
  }
  let lines = '';
  for (const id of ids) lines += `"${codecs[format].encode(id)}"\n`;
  return Buffer.from(lines, 'latin1');
}

/**
 * Memory for answers of one size, used again and again: with new memory for each, 1,000 IDs take a third longer. At most
 * `most` buffers are kept.
 */
export class AnswerBuffers {
  private readonly free: Buffer[] = [];

  constructor(
    readonly size: number,
    private readonly most: number,
  ) {}

  /**
   * A buffer that serves no other answer until the system has taken over all of this response. After a response that
   * broke off it serves none.
   */
  for(response: EventEmitter): Buffer {
    const buffer = this.free.pop() ?? Buffer.allocUnsafeSlow(this.size);
    response.once('finish', () => {
      if (this.free.length < this.most) this.free.push(buffer);
    });
    return buffer;
  }
}

/**
 * Writes `"…"` for each ID, in decimal, with the end (one character) after each, without making a text of each: those
 * that agree in all but their last four digits are copies of the first with other digits in the end. For 1,000 IDs that
 * takes a tenth of what `JSON.stringify` of their texts does.
 *
 * @param target with room for {@link LONGEST_ENTRY} bytes an ID from `at` on
 * @returns where it stopped
 */
function writeIdEntries(ids: BigInt64Array, target: Buffer, at: number, end: ',' | '\n'): number {
  const words = new Int32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  let to = at;
  for (let from = 0; from < ids.length;) {
    const entry = `"${ids[from]}"${end}`;
    const tailBase = tailOf(entry) - lowWord(words, from);
    const runEnd = endOfRun(words, from, tailBase);
    target.fill(entry, to, to + (runEnd - from) * entry.length, 'latin1');
    for (let index = from + 1, tailAt = to + entry.length * 2 - 6; index < runEnd; index++, tailAt += entry.length) {
      view.setInt32(tailAt, TAILS[tailBase + lowWord(words, index)]!, true);
    }
    to += (runEnd - from) * entry.length;
    from = runEnd;
  }
  return to;
}

/** The last four digits; NaN for an ID that has no others: zeros would not be written there. */
function tailOf(entry: string): number {
  return entry.length > '"0000",'.length ? Number(entry.slice(-6, -2)) : NaN;
}

/** The index after the IDs from `from` on that share all but the last four digits with it. */
function endOfRun(words: Int32Array, from: number, tailBase: number): number {
  const high = words[from * 2 + HIGH];
  const count = words.length / 2;
  let end = from + 1;
  for (; end < count && words[end * 2 + HIGH] === high; end++) {
    const tail = tailBase + lowWord(words, end);
    if (!(tail >= 0 && tail < TAILS.length)) break;
  }
  return end;
}

/** In their order, but from -2^31 on: V8 counts faster with those than with unsigned ones. */
function lowWord(words: Int32Array, index: number): number {
  return words[index * 2 + LOW]! ^ 0x8000_0000;
}
