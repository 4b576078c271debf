import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sqliteCodeName } from './sqlite-codes.js';

it.each([
  [1, 'SQLITE_ERROR'],
  [5, 'SQLITE_BUSY'],
  [517, 'SQLITE_BUSY_SNAPSHOT'],
  [516, 'SQLITE_ABORT_ROLLBACK'],
  [1032, 'SQLITE_READONLY_DBMOVED'],
  [2067, 'SQLITE_CONSTRAINT_UNIQUE'],
  [9_226, 'SQLITE_IOERR_CODEC'],
])('The result code %i of SQLite is %s', (code, name) => {
  expect(sqliteCodeName(code)).toBe(name);
});

it('An extended code of a later SQLite has the name of its kind', () => {
  expect(sqliteCodeName(10 | (99 << 8))).toBe('SQLITE_IOERR');
  expect(sqliteCodeName(5 | (99 << 8))).toBe('SQLITE_BUSY');
  expect(sqliteCodeName(101)).toBe('SQLITE_101');
});

/** Which better-sqlite3 brings, to be compiled. */
const HEADER = join(dirname(require.resolve('better-sqlite3/package.json')), 'deps/sqlite3/sqlite3.h');

it("Every result code of SQLite's header has its name there", () => {
  const text = readFileSync(HEADER, 'utf8');
  const codes = new Map<string, number>();
  for (const [, name, code] of text.matchAll(/^#define (SQLITE_[A-Z]+) +(\d+) +\/\* /gm)) {
    // The result codes stand first: SQLITE_OK to SQLITE_WARNING.
    if (!codes.has('SQLITE_WARNING')) codes.set(name!, Number(code));
  }
  for (const [, name, base, detail] of text.matchAll(
    /^#define (SQLITE_\w+) +\((SQLITE_[A-Z]+) *\| *\((\d+)<<8\)\)/gm,
  )) {
    if (!base!.endsWith('_OK') && codes.has(base!)) codes.set(name!, codes.get(base!)! | (Number(detail) << 8));
  }
  expect(codes.size).toBeGreaterThan(100);
  expect([...codes].map(([, code]) => sqliteCodeName(code))).toEqual([...codes.keys()]);
});
