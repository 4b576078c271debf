import { closeSync, openSync, readSync, statSync } from 'node:fs';

const ID_BYTES = 8;

/** How many IDs a process has written into its file, eight bytes each; 0 while there is no file. */
export function countIds(file: string): number {
  return Math.floor((statSync(file, { throwIfNoEntry: false })?.size ?? 0) / ID_BYTES);
}

/** The IDs of a file, in the order in which they were issued; what a process was killed in the middle of writing is left out. */
export function readIds(file: string): BigInt64Array {
  const ids = new BigInt64Array(countIds(file));
  readInto(ids, file);
  return ids;
}

/** The IDs of many files, one file after the other. */
export function readAllIds(files: readonly string[]): BigInt64Array {
  const counts = files.map(countIds);
  const all = new BigInt64Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  files.forEach((file, index) => readInto(all.subarray(at, (at += counts[index]!)), file));
  return all;
}

function readInto(target: BigInt64Array, file: string): void {
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  const descriptor = openSync(file, 'r');
  for (let at = 0; at < bytes.length;) {
    const read = readSync(descriptor, bytes, at, Math.min(bytes.length - at, 2 ** 30), null);
    if (read === 0) throw new Error(`${file} has become shorter`);
    at += read;
  }
  closeSync(descriptor);
}
