import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory, and what removes it. */
export function temporaryDirectory(): { readonly directory: string; readonly drop: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-state-'));
  return { directory, drop: () => rmSync(directory, { recursive: true, force: true }) };
}
