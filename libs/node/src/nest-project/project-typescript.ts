import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as TypeScript from 'typescript';
import { InputError } from './input-error.js';

/**
 * Loads the TypeScript that is installed in an application.
 * @throws InputError when there is none, or a version without an API
 */
export function projectTypescript(folder: string): typeof TypeScript {
  let found: Partial<typeof TypeScript>;
  try {
    found = createRequire(join(folder, 'package.json'))('typescript') as Partial<typeof TypeScript>;
  } catch {
    throw new InputError(
      `--project ${folder} is read with its own TypeScript, which is not installed there: npm install --save-dev typescript`,
    );
  }
  if (typeof found.createProgram === 'function') return found as typeof TypeScript;
  throw new InputError(
    `--project ${folder} has TypeScript ${String(found.version)}, which has no API for other programs: use version 5 or 6`,
  );
}
