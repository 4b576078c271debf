import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** IDs that the original made, and the wall-clock window (Unix ms) in which it made them. */
export interface Vector {
  readonly timeUnit: 1 | 2 | 3 | 4 | 5;
  readonly timestampLength: number;
  readonly workerIdLength: number;
  readonly endBitsLength: number;
  readonly endBitsValue: number;
  readonly epoch: string;
  readonly minWorkerId: number;
  readonly maxWorkerId: number;
  readonly workerId: number;
  readonly t0: number;
  readonly t1: number;
  readonly ids: readonly string[];
}

const file = process.env['RAINDROP_VECTORS'] ?? join(__dirname, '../../../../test/fixtures/go-raindrop-vectors.json');
/** The file that RAINDROP_VECTORS names, or the repository's copy. */
export const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[];
