import { processWide } from '@raindrop/core/internal';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One installation of a package that this thread has loaded. */
export interface Copy {
  readonly version: string;
  /** Its folder. */
  readonly path: string;
}

/**
 * Records that this thread has loaded this copy of a package.
 * @param folder finds the package's folder
 * @param more what the other copies need of this one
 * @returns the copy; undefined where its package.json cannot be read, as in a bundle
 */
export function registerCopy<More extends object>(
  name: string,
  folder: () => string,
  more: More,
): (Copy & More) | undefined {
  try {
    const path = folder();
    const found = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
      readonly name?: string;
      readonly version: string;
    };
    if (found.name !== name) return undefined;
    const copy = { version: found.version, path, ...more };
    // A package that is loaded twice from one place (jest.resetModules(), hot reload) is one copy.
    copiesOf(name).set(path, copy);
    return copy;
  } catch {
    return undefined;
  }
}

/** Returns the other copies of the package that this thread has loaded so far. */
export function otherCopies<C extends Copy>(name: string, own: C | undefined): C[] {
  return own === undefined ? [] : ([...copiesOf(name).values()] as C[]).filter(({ path }) => path !== own.path);
}

/** Says which copies there are, and how to keep only one. */
export function describeCopies(name: string, copies: readonly Copy[]): string {
  const each = copies.map(({ version, path }) => `${version} in ${path}`).join(' and ');
  return (
    `${name} ${each}: npm ls ${name} shows which packages bring them; npm dedupe, or one version in all workspaces, ` +
    `leaves one`
  );
}

function copiesOf(name: string): Map<string, Copy> {
  return processWide(`copies of ${name}`, () => new Map<string, Copy>());
}
