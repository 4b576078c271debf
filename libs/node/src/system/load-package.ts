/**
 * Loads a package that not everybody needs. `require` comes first: in the sandboxes of Jest and other `vm` contexts
 * `import()` fails. In a bundle, which has packed what `import()` names, nothing else works.
 * @param required `() => createRequire(__filename)('pg')`
 * @param imported `() => import('pg')`
 * @throws what either of them throws
 */
export async function loadPackage<T extends object>(required: () => T, imported: () => Promise<T>): Promise<T> {
  try {
    return required();
  } catch (error) {
    try {
      const loaded = await imported();
      // What a CommonJS package exports is the default, and not always by name as well.
      return 'default' in loaded ? (loaded.default as T) : loaded;
    } catch (second) {
      throw isSandboxed(second) ? error : second;
    }
  }
}

function isSandboxed(error: unknown): boolean {
  return String((error as { code?: unknown } | undefined)?.code).startsWith('ERR_VM_DYNAMIC_IMPORT');
}

/** `Cannot find module 'pg'` or `Cannot find package 'pg' imported from`; of Yarn: `@raindrop/node tried to access pg`. */
const NAMED_AFTER = `(?:'|tried to access )`;

/**
 * Tells whether loading failed because one of these packages is not installed. A file that is missing inside an
 * installed package, or a package that an installed one misses, is another fault, and keeps its error.
 * @param error what `require` or `import()` threw
 */
export function isMissingPackage(error: unknown, ...names: readonly string[]): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return false;
  return names.some((name) => new RegExp(`${NAMED_AFTER}${name}['/ ,]`).test(String(message)));
}
