import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdFiles } from './id-files.js';
import { compareIds } from './id-ledger.js';
import { CODES } from './issuing-messages.js';

describe('The ledger', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'raindrop-ledger-'))));
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const files = (process: string): IdFiles => new IdFiles(join(directory, process), CODES);

  it('finds nothing where all differ, and takes equal IDs of two codes for two', () => {
    const [one, other] = [files('1-1'), files('2-1')];
    one.addAll('plain', new BigInt64Array([5n, 3n, 9_007_199_254_740_993n]));
    other.addAll('plain', new BigInt64Array([4n, 9_007_199_254_740_992n]));
    other.add('order', 5n);
    expect(compareIds(directory, CODES)).toEqual({ ids: 6, duplicates: 0, examples: [], impossible: 0 });
  });

  it('finds an ID that three starts have returned, with all places', () => {
    files('1-1').addAll('order', new BigInt64Array([1n, 7n, 2n]));
    files('1-2').add('order', 7n);
    files('4-1').addAll('order', new BigInt64Array([8n, 7n]));
    const { duplicates, examples } = compareIds(directory, CODES);
    expect(duplicates).toBe(2);
    const origins = [
      { process: '1-1', position: 1 },
      { process: '1-2', position: 0 },
      { process: '4-1', position: 1 },
    ];
    expect(examples).toEqual([{ id: 7n, code: 'order', origins }]);
  });

  it('finds an ID that one process has returned twice, and what cannot be an ID', () => {
    files('1-1').addAll('plain', new BigInt64Array([0n, 6n, 6n, -1n]));
    expect(compareIds(directory, CODES)).toMatchObject({ ids: 4, duplicates: 1, impossible: 2 });
  });
});
