import * as pg from 'pg';
import { loadDriver } from './load-driver.js';

const failing = (code: string, message: string) => (): Promise<never> =>
  Promise.reject(Object.assign(new TypeError(message), { code }));

const sandboxed = failing('ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG', 'A dynamic import callback was invoked');

describe('A driver', () => {
  it('is had without import(), which fails under plain Jest', async () => {
    expect((await loadDriver<typeof pg>('postgres', 'pg', sandboxed)).Client).toBe(pg.Client);
  });

  it('is had by import() where there is no file to be required, as in a bundle', async () => {
    const packed = { Client: pg.Client };
    for (const loaded of [packed, { default: packed }])
      expect(await loadDriver('postgres', 'not-installed', () => Promise.resolve(loaded))).toBe(packed);
  });

  it('that is missing is named, under plain Jest too, and no second try is advised', async () => {
    await expect(loadDriver('postgres', 'not-installed', sandboxed)).rejects.toMatchObject({
      errorCode: 'DRIVER_NOT_INSTALLED',
      retryable: false,
      packageName: 'pg',
      cause: { code: 'MODULE_NOT_FOUND' },
    });
  });

  it('that is installed and cannot be loaded says why, and is no database out of reach', async () => {
    const broken = failing('ERR_DLOPEN_FAILED', 'compiled against a different Node.js version');
    await expect(loadDriver('better-sqlite3', 'not-installed', broken)).rejects.toMatchObject({
      errorCode: 'DRIVER_NOT_INSTALLED',
      retryable: false,
      message: expect.stringMatching(/cannot be loaded: compiled against .*npm rebuild better-sqlite3/) as string,
    });
  });
});
