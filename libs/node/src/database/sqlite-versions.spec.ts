import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  guardSqliteDriver,
  refuseUnfit,
  sqliteVersions,
  UnfitSqliteDriverError,
  warningOf,
} from './sqlite-versions.js';

describe('a version of better-sqlite3', () => {
  it.each([
    ['13.2.0', '20.20.2'],
    ['13.0.0', '21.7.3'],
    ['14.0.0', '20.19.0'],
    ['13.2.0', '22.13.1'],
    ['13.2.0', '23.5.0'],
  ])('%s is refused on Node %s, with the cure', (driver, node) => {
    expect(() => refuseUnfit({ driver, node })).toThrow(UnfitSqliteDriverError);
    expect(() => refuseUnfit({ driver, node })).toThrow(/Node 22.14 or later, or install better-sqlite3@12/);
  });

  it.each([
    ['12.11.1', '20.20.2'],
    ['13.2.0', '22.14.0'],
    ['13.2.0', '23.6.0'],
    ['13.2.0', '24.21.0'],
    ['12.11.1', '24.21.0'],
  ])('%s is not refused on Node %s', (driver, node) => {
    expect(() => refuseUnfit({ driver, node })).not.toThrow();
  });

  it.each([
    [true, '12.11.1', '24.19.0'],
    [true, '11.10.0', '24.21.0'],
    [true, '12.11.1', '26.10.0'],
    [false, '12.11.1', '24.18.9'],
    [false, '12.11.1', '22.23.3'],
    [false, '12.11.1', '20.20.2'],
    [false, '13.2.0', '24.21.0'],
  ])('is warned of: %s, for %s on Node %s', (isWarned, driver, node) => {
    const warning = warningOf({ driver, node });
    if (isWarned) expect(warning).toContain('install better-sqlite3@13');
    else expect(warning).toBeUndefined();
  });

  it('is read where the driver is loaded', () => {
    const expected = process.versions.node.startsWith('20.') ? /^12\./ : /^13\./;
    expect(sqliteVersions(__filename)?.driver).toMatch(expected);
  });
});

describe('the guard', () => {
  let folder: string;
  let binary: string;

  beforeAll(() => {
    const root = mkdtempSync(join(tmpdir(), 'raindrop-guard-'));
    folder = join(root, 'better-sqlite3');
    binary = join(folder, 'prebuilds', 'linux-x64.node');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "version": "13.2.0" }');
  });

  afterAll(() => rmSync(join(folder, '..'), { recursive: true }));

  function guarded(node: string): { loaded: string[]; load: (filename: string) => void } {
    const loaded: string[] = [];
    const loader = { versions: { node }, dlopen: (_: object, filename: string) => void loaded.push(filename) };
    guardSqliteDriver(loader);
    return { loaded, load: (filename) => loader.dlopen({}, filename) };
  }

  it.each(['20.20.2', '22.13.0'])('refuses the binary of version 13 on Node %s before it is loaded', (node) => {
    const { loaded, load } = guarded(node);
    expect(() => load(binary)).toThrow(UnfitSqliteDriverError);
    expect(loaded).toEqual([]);
  });

  it('lets every other binary through', () => {
    const { loaded, load } = guarded('20.20.2');
    load('/app/node_modules/pg-native/build/Release/addon.node');
    expect(loaded).toHaveLength(1);
  });

  it('says nothing where the version cannot be found, as in a bundle', () => {
    const { loaded, load } = guarded('20.20.2');
    load('/bundle/better-sqlite3/build/Release/better_sqlite3.node');
    expect(loaded).toHaveLength(1);
  });

  it('does nothing from Node 22.14 on', () => {
    const { loaded, load } = guarded('22.14.0');
    load(binary);
    expect(loaded).toEqual([binary]);
  });
});
