import { openSync, writeSync } from 'node:fs';

/**
 * What a process has issued, on file before anything else happens: the kernel has it, so that kill -9 loses nothing
 * that another process could be compared with.
 */
export class IdFiles<Code extends string = string> {
  private readonly files: Readonly<Record<Code, number>>;
  private readonly one = new BigInt64Array(1);

  constructor(prefix: string, codes: readonly Code[]) {
    const open = (code: Code): [Code, number] => [code, openSync(`${prefix}.${code}`, 'a')];
    this.files = Object.fromEntries(codes.map(open)) as Record<Code, number>;
  }

  add(code: Code, id: bigint): void {
    this.one[0] = id;
    this.addAll(code, this.one);
  }

  addAll(code: Code, ids: BigInt64Array): void {
    for (let from = 0; from < ids.byteLength;) {
      from += writeSync(this.files[code], ids as unknown as NodeJS.ArrayBufferView, from, ids.byteLength - from);
    }
  }
}
