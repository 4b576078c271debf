import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MissingForTests } from '../jest/missing-for-tests';

/** A file system of its own that can be full. */
export interface SmallDisk {
  readonly directory: string;
  /** Takes all that is free, to the last byte. */
  fill(): void;
  /** Gives it back. */
  free(): void;
  /** Removes the disk with everything on it. Safe to call twice. */
  remove(): void;
}

/**
 * Mounts a tmpfs.
 * @throws MissingForTests where this process may not
 */
export function smallDisk(kilobytes = 2_048): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', directory], { stdio: 'pipe' });
  } catch {
    rmSync(directory, { recursive: true });
    throw new MissingForTests('A small disk', 'mounting a tmpfs takes root, or CAP_SYS_ADMIN in a container.');
  }
  const filler = join(directory, 'filler');
  let isThere = true;
  const remove = (): void => {
    if (!isThere) return;
    isThere = false;
    process.off('exit', remove);
    // Also when somebody still has a file open there.
    execFileSync('umount', ['--lazy', directory]);
    rmSync(directory, { recursive: true });
  };
  process.once('exit', remove);
  return { directory, fill: () => fill(filler), free: () => rmSync(filler, { force: true }), remove };
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (;;) writeSync(descriptor, Buffer.alloc(4_096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}
