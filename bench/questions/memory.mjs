// Counted over a million calls, each result kept until the next one and none collected in between: see parts/bytes.mjs.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const question = 'How much memory does an ID take, beyond the result?';

const BYTES = fileURLToPath(new URL('../parts/bytes.mjs', import.meta.url));
const FLAGS = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'];

/** Reading a 64-bit cell takes 40 bytes, 16 more than the bigint has: V8's, with whatever is done around it. */
const BIGINTS = ['nextId()', 'nextId(code)', 'forCode(code).nextId()'];
/** A header, a length and the two texts that are joined. */
const JOINED_TEXT = 32;
/** What a measurement itself leaves behind, spread over a million calls. */
const NOTHING = 0.05;

export async function measure() {
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, BYTES]);
  const bytes = JSON.parse(stdout);
  const figure = (name, value, limit = {}) => ({ name, value, unit: 'bytes', ...limit });
  return {
    figures: [
      figure('floor: a bigint from a 64-bit cell', bytes.bigint),
      figure('floor: a number counted up', bytes.number),
      ...BIGINTS.map((name) => figure(name, bytes[name])),
      figure('nextString()', bytes['nextString()'], { atMost: JOINED_TEXT * 1.01, note: 'a text joined of two' }),
      figure('nextNumber()', bytes['nextNumber()']),
      figure('fill(BigInt64Array)', bytes['fill(BigInt64Array)'], { atMost: NOTHING, note: 'per ID of 1,000' }),
    ],
    ratios: [
      ...BIGINTS.map((name) => ({ name: `${name} / a bigint`, value: bytes[name] / bytes.bigint, atMost: 1.01 })),
      { name: 'nextNumber() / a number', value: bytes['nextNumber()'] / bytes.number, atMost: 1.01 },
    ],
  };
}
