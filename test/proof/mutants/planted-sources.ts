import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant } from './mutant.js';

const root = join(__dirname, '../../..');

/** A copy of the sources as they are in the working tree, for faults to be planted in. */
export class PlantedSources {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'raindrop-mutants-')));

  constructor() {
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    const names = new Set(list.toString().split('\0').filter(Boolean));
    for (const name of names) {
      if (existsSync(join(root, name)))
        cpSync(join(root, name), join(this.directory, name), { preserveTimestamps: true });
    }
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
  }

  /**
   * Runs something with a fault in the sources.
   * @throws Error when the text to be replaced is not there exactly once
   */
  async with<T>(mutant: Mutant, run: () => Promise<T>): Promise<T> {
    const path = join(this.directory, mutant.file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, planted(original, mutant));
    try {
      return await run();
    } finally {
      writeFileSync(path, original);
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** @throws Error when the text to be replaced is not there exactly once */
export function planted(source: string, { name, file, find, replace }: Mutant): string {
  const [before, after, ...more] = source.split(find);
  if (after === undefined || more.length > 0) {
    throw new Error(`${name}: ${file} must have this exactly once: ${find.trim()}`);
  }
  return before + replace + after;
}
