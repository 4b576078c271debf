/**
 * Loads an optional package, such as a database's driver. `require` comes first, because `import()` fails in Jest and
 * in other `vm` contexts. In a bundle only `import()` works: the bundler has packed the package that it names.
 * @param required `() => createRequire(__filename)('pg')`
 * @param imported `() => import('pg')`
 * @throws the error of `import()`; that of `require` where the context allows no `import()`
 */
export async function loadPackage<T extends object>(required: () => T, imported: () => Promise<T>): Promise<T> {
  try {
    return required();
  } catch (error) {
    try {
      const loaded = await imported();
      // A CommonJS package has its exports in `default`, and not always by name as well.
      return 'default' in loaded ? (loaded.default as T) : loaded;
    } catch (second) {
      throw isSandboxed(second) ? error : second;
    }
  }
}

function isSandboxed(error: unknown): boolean {
  return String((error as { code?: unknown } | undefined)?.code).startsWith('ERR_VM_DYNAMIC_IMPORT');
}

/** Node says `Cannot find module 'pg'` or `Cannot find package 'pg' imported from`, Yarn `... tried to access pg`. */
const NAMED_AFTER = `(?:'|tried to access )`;

/**
 * Tells whether loading failed because one of these packages is not installed. An installed package that lacks a file,
 * or a package of its own, is another fault: then this returns false.
 * @param error what `require` or `import()` threw
 */
export function isMissingPackage(error: unknown, ...names: readonly string[]): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return false;
  return names.some((name) => new RegExp(`${NAMED_AFTER}${name}['/ ,]`).test(String(message)));
}
