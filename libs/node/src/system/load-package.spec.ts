import { createRequire } from 'node:module';
import { isMissingPackage } from './load-package.js';

const failed = (code: unknown, message: string): Error => Object.assign(new Error(message), { code });

describe('A package that is not installed', () => {
  it.each([
    ['require', failed('MODULE_NOT_FOUND', `Cannot find module 'pg'\nRequire stack:\n- /app/main.js`)],
    ['import()', failed('ERR_MODULE_NOT_FOUND', `Cannot find package 'pg' imported from /app/main.js`)],
    ['an entry of it', failed('MODULE_NOT_FOUND', `Cannot find module 'pg/lib/index.js'`)],
    ['Yarn', failed('MODULE_NOT_FOUND', 'app tried to access pg (a peer dependency) but it is not provided')],
    ['Yarn, undeclared', failed('MODULE_NOT_FOUND', `app tried to access pg, but it isn't declared`)],
  ])('is recognised in what %s throws', (_, error) => {
    expect(isMissingPackage(error, 'mysql2', 'pg')).toBe(true);
  });

  it('is recognised in the error of this Node', () => {
    const name = '@no-such-scope/package';
    expect(
      isMissingPackage(
        thrownBy(() => createRequire(__filename)(name) as unknown),
        name,
      ),
    ).toBe(true);
  });

  it.each([
    ['a file of it is missing', failed('MODULE_NOT_FOUND', `Cannot find module '/app/node_modules/pg/lib/index.js'`)],
    [
      'it misses a package',
      failed('ERR_MODULE_NOT_FOUND', `Cannot find package 'x' imported from /node_modules/pg/i.js`),
    ],
    ['it misses a package, says Yarn', failed('MODULE_NOT_FOUND', 'pg tried to access x (a peer dependency)')],
    ['another package ends like it', failed('MODULE_NOT_FOUND', `Cannot find module '@types/pg'`)],
    ['another package begins like it', failed('MODULE_NOT_FOUND', `Cannot find module 'pg-native'`)],
    ['the code is another one', failed('ENOENT', `Cannot find module 'pg'`)],
    ['something else was thrown', undefined],
  ])('is not it when %s', (_, error) => {
    expect(isMissingPackage(error, 'pg')).toBe(false);
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
