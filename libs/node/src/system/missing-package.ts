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
