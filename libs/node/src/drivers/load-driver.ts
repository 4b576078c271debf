import { DriverNotInstalledError } from '../database/driver-not-installed-error.js';
import { isMissingPackage } from '../system/missing-package.js';

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
    const missing = new DriverNotInstalledError(type, error);
    throw isMissingPackage(error, missing.packageName) ? missing : error;
  }
}
