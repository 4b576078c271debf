import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as TypeScript from 'typescript';
import { InputError } from './input-error.js';

/** TypeScript 7 has no API for other programs. Beside it stands the package with that of 6. */
const PACKAGES = ['typescript', '@typescript/typescript6'];

/**
 * Looks for a TypeScript that can read an application: 5 or 6 in the application, then beside this command.
 * @param places folders to look in, the first one first
 * @throws InputError that says what to install, when there is none, or only a version without an API
 */
export function projectTypescript(folder: string, places = [folder, __dirname]): typeof TypeScript {
  const found = places.flatMap((place) => PACKAGES.map((name) => loadFrom(place, name)));
  const usable = found.find((each) => typeof each?.createProgram === 'function');
  if (usable !== undefined) return usable as typeof TypeScript;
  const version = found.find((each) => each !== undefined)?.version;
  throw new InputError(
    version === undefined
      ? `--project ${folder} is read with TypeScript 5 or 6, which is not installed: npm install --save-dev typescript@6`
      : `--project ${folder} has TypeScript ${version}, which has no API for other programs. Install that of 6 beside it: ` +
          `npm install --save-dev @typescript/typescript6`,
  );
}

function loadFrom(place: string, name: string): Partial<typeof TypeScript> | undefined {
  try {
    return createRequire(join(place, 'package.json'))(name) as Partial<typeof TypeScript>;
  } catch {
    return undefined;
  }
}
