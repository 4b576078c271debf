import { join } from 'node:path';
import { refuseUnfit, versionIn } from './sqlite-versions.js';

/** What is used of `process`. */
export interface BinaryLoader {
  readonly versions: { readonly node: string };
  dlopen(module: object, filename: string, flags?: number): void;
}

/**
 * Refuses the binary of a better-sqlite3 that would end the process: the application may open its own DataSource before
 * we hear of it. Below Node 22 only, where there is such a binary; every other binary is loaded as before.
 */
export function guardSqliteDriver(loader: BinaryLoader): void {
  const { node } = loader.versions;
  if (Number(node.split('.', 1)[0]) >= 22) return;
  const load = loader.dlopen.bind(loader);
  loader.dlopen = (module, filename, ...flags) => {
    const folder = /^(.*[\\/]better-sqlite3)[\\/](?:prebuilds|build)[\\/]/.exec(filename)?.[1];
    const driver = folder && versionIn(join(folder, 'package.json'));
    if (driver !== undefined) refuseUnfit({ driver, node });
    load(module, filename, ...flags);
  };
}
