import { createRequire } from 'node:module';
import { DriverNotInstalledError } from '../database/database-errors.js';
import { loadPackage } from '../system/load-package.js';

/**
 * Loads the package of a driver, which applications install for the database that they use.
 * @param load `() => import('pg')`
 * @throws DriverNotInstalledError, also when the package is installed and cannot be loaded
 */
export async function loadDriver<T extends object>(type: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await loadPackage(() => createRequire(__filename)(name) as T, load);
  } catch (error) {
    throw new DriverNotInstalledError(type, error);
  }
}
