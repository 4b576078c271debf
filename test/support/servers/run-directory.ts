import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 3 * 1024 ** 3;
const PREFIX = 'raindrop-test-';
const DAY_MS = 86_400_000;

/**
 * Makes the directory in which everything of this run lives: servers, SQLite's files, what tests write. It is in memory
 * where there is room, for nothing in it has to outlive the machine, and half of what the suites wait for is the disk.
 * What runs that were killed left there is removed after a day.
 */
export function makeRunDirectory(): string {
  const directory = mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), PREFIX));
  // Servers run under accounts of their own.
  chmodSync(directory, 0o1777);
  removeForgotten(join(directory, '..'));
  return directory;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

function removeForgotten(parent: string): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(parent, name);
    try {
      if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { recursive: true, force: true });
    } catch {
      // Somebody else's, or gone already.
    }
  }
}
