import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';

/** An empty directory, in memory where there is one, and what removes it. */
export function temporaryDirectory(): { readonly directory: string; readonly drop: () => void } {
  const directory = mkdtempSync(join(parent(), 'raindrop-state-'));
  return { directory, drop: () => rmSync(directory, { recursive: true, force: true }) };
}

/** A disk that others keep busy stands still for longer than a lease of three seconds. */
function parent(): string {
  try {
    accessSync(MEMORY, constants.W_OK);
    return MEMORY;
  } catch {
    return tmpdir();
  }
}
