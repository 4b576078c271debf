import { DriverNotInstalledError } from '../database/driver-not-installed-error.js';

/**
 * Loads a driver's package, which only those need who use its database.
 * @param load `() => import('pg')`
 * @throws DriverNotInstalledError
 */
export async function loadDriver<T extends object>(type: string, load: () => Promise<T>): Promise<T> {
  try {
    const loaded = await load();
    // The packages are CommonJS: what they export is the default, and not always by name as well.
    return 'default' in loaded ? (loaded.default as T) : loaded;
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    const isMissing = /^(ERR_)?MODULE_NOT_FOUND$/.test(String(code));
    throw isMissing ? new DriverNotInstalledError(type, error) : error;
  }
}
