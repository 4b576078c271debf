import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { parseDocument } from 'yaml';

/** An application cannot take the tarballs. */
export class ApplicationError extends Error {}

/** A packed library. */
export interface Packed {
  readonly manifest: { readonly name: string; readonly dependencies?: Readonly<Record<string, string>> };
  readonly tarball: string;
}

export type Manager = 'npm' | 'pnpm' | 'yarn';

/** An application, and what installs its packages. */
export interface Application {
  readonly folder: string;
  /** The folder of its lock file: its own, or that of the workspace that it is part of. */
  readonly root: string;
  readonly manager: Manager;
  /** What shows it, such as `pnpm-lock.yaml`. */
  readonly shownBy: string;
}

/** Entries that one file of an application needs. */
export interface Edit {
  readonly file: string;
  /** The place of the entries, such as `['pnpm', 'overrides']`. */
  readonly field: readonly string[];
  readonly entries: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

const LOCKS: Readonly<Record<string, Manager | 'bun'>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'pnpm-workspace.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  '.yarnrc.yml': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
};
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies'];
const ORMS = [
  'kysely',
  'drizzle-orm',
  '@mikro-orm/core',
  'sequelize',
  '@prisma/client',
  '@prisma/orm-postgres',
  '@prisma/orm-sqlite',
];
/** pnpm 11 no longer reads its settings in package.json, and pnpm 9 reads them only there. */
const FIRST_WITHOUT_FIELD = 11;
const LAST_WITHOUT_WORKSPACE = 9;

/**
 * Finds the package manager of an application: its `packageManager`, else its lock file, else npm.
 * @throws ApplicationError when there is no application, or the manager is unclear or none of npm, pnpm and Yarn
 */
export function readApplication(path: string): Application {
  const folder = resolve(path);
  if (!existsSync(folder)) throw new ApplicationError(`${path} does not exist: name the folder of an application`);
  if (!existsSync(join(folder, 'package.json'))) {
    throw new ApplicationError(`${path} has no package.json: name the folder of an application`);
  }
  readManifest(folder);
  const root = locksIn(folder).length > 0 ? folder : (workspaceAbove(folder) ?? folder);
  const named = readManifest(root)['packageManager'];
  const locks = locksIn(root);
  const found = new Set(locks.map((lock) => LOCKS[lock]!));
  if (typeof named === 'string') return { folder, root, ...accepted(path, named.split('@')[0]!, 'packageManager') };
  if (found.size > 1) {
    throw new ApplicationError(
      `${path} has the files of several package managers, ${locks.join(' and ')}: delete those that you do not use, ` +
        'or set packageManager in package.json',
    );
  }
  if (locks.length === 0) return { folder, root, manager: 'npm', shownBy: 'no lock file' };
  return { folder, root, ...accepted(path, [...found][0]!, locks[0]!) };
}

function accepted(path: string, manager: string, shownBy: string): Pick<Application, 'manager' | 'shownBy'> {
  if (manager === 'npm' || manager === 'pnpm' || manager === 'yarn') return { manager, shownBy };
  throw new ApplicationError(`${path} uses ${manager} (${shownBy}): the tarballs are tried with npm, pnpm and yarn`);
}

function locksIn(folder: string): string[] {
  return Object.keys(LOCKS).filter((name) => existsSync(join(folder, name)));
}

/** The nearest folder above that has workspaces. */
function workspaceAbove(folder: string): string | undefined {
  const above = dirname(folder);
  if (above === folder) return undefined;
  const isRoot =
    existsSync(join(above, 'pnpm-workspace.yaml')) ||
    (existsSync(join(above, 'package.json')) && 'workspaces' in readManifest(above));
  return isRoot ? above : workspaceAbove(above);
}

function readManifest(folder: string): Fields {
  const file = join(folder, 'package.json');
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Fields;
  } catch {
    // The same error as for JSON that is no object.
  }
  throw new ApplicationError(`${file} is not the JSON of a package: correct it first`);
}

/**
 * Chooses the libraries that an application needs, with those that they need themselves.
 * @param packed all libraries
 */
export function neededPackages({ folder }: Pick<Application, 'folder'>, packed: readonly Packed[]): readonly Packed[] {
  const listed = listedPackages(readManifest(folder));
  const wanted = (name: string): boolean =>
    listed.includes(name) ||
    ['core', 'node', 'cli'].includes(basename(name)) ||
    (basename(name) === 'nestjs' && listed.includes('@nestjs/core')) ||
    (basename(name) === 'typeorm' && listed.includes('typeorm')) ||
    (basename(name) === 'orm' && ORMS.some((each) => listed.includes(each)));
  const chosen = packed.filter(({ manifest }) => wanted(manifest.name));
  const below = new Set(chosen.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {})));
  return packed.filter((each) => chosen.includes(each) || below.has(each.manifest.name));
}

function listedPackages(manifest: Fields): string[] {
  return DEPENDENCIES.flatMap((field) => Object.keys((manifest[field] as Fields | undefined) ?? {}));
}

/**
 * The name of a tarball in `vendor`. It contains a hash of the content, because package managers take a file of the same
 * name for the same package: npm would say "up to date" and keep the old one.
 */
export function vendorName(tarball: string): string {
  const hash = createHash('sha256').update(readFileSync(tarball)).digest('hex').slice(0, 8);
  return basename(tarball).replace(/\.tgz$/, `-${hash}.tgz`);
}

/**
 * Names the entries with which an application installs the tarballs in its `vendor`. The tarballs name each other by
 * version. npm finds these versions among the dependencies of the application, pnpm needs overrides and Yarn resolutions.
 */
export function entriesFor(application: Application, needed: readonly Packed[]): Edit[] {
  const { folder, root, manager } = application;
  const file = join(folder, 'package.json');
  const manifest = readManifest(folder);
  const fieldOf = (name: string): string =>
    DEPENDENCIES.find((field) => name in ((manifest[field] as Fields | undefined) ?? {})) ??
    (basename(name) === 'cli' ? 'devDependencies' : 'dependencies');
  const dependencies = DEPENDENCIES.map((field) => ({
    file,
    field: [field],
    entries: entriesOf(
      needed.filter(({ manifest: { name } }) => fieldOf(name) === field),
      'vendor',
    ),
  })).filter(({ entries }) => Object.keys(entries).length > 0);
  if (manager === 'npm') return dependencies;
  const vendor = relative(root, join(folder, 'vendor')).split(sep).join('/');
  const place =
    manager === 'yarn' ? { file: join(root, 'package.json'), field: ['resolutions'] } : pnpmOverrides(application);
  return [...dependencies, { ...place, entries: entriesOf(needed, vendor) }];
}

function entriesOf(needed: readonly Packed[], vendor: string): Record<string, string> {
  return Object.fromEntries(
    needed.map(({ manifest, tarball }) => [manifest.name, `file:./${vendor}/${vendorName(tarball)}`]),
  );
}

/** Where this pnpm reads overrides. Version 10 reads both files, but only one of them at a time. */
function pnpmOverrides({ root }: Application): Pick<Edit, 'file' | 'field'> {
  const major = pnpmMajor(root);
  const isInManifest = major <= LAST_WITHOUT_WORKSPACE || (major < FIRST_WITHOUT_FIELD && 'pnpm' in readManifest(root));
  return isInManifest
    ? { file: join(root, 'package.json'), field: ['pnpm', 'overrides'] }
    : { file: join(root, 'pnpm-workspace.yaml'), field: ['overrides'] };
}

/** The version that `packageManager` names, else the installed one, else the newest. */
function pnpmMajor(root: string): number {
  const named = readManifest(root)['packageManager'];
  const text = typeof named === 'string' ? named.replace(/^pnpm@/, '') : installedPnpm(root);
  const major = Number.parseInt(text, 10);
  return Number.isNaN(major) ? Infinity : major;
}

function installedPnpm(root: string): string {
  try {
    return execFileSync('pnpm', ['--version'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

/** Copies the tarballs into `vendor` of the application. @returns their paths from there */
export function layTarballs({ folder }: Application, needed: readonly Packed[]): string[] {
  mkdirSync(join(folder, 'vendor'), { recursive: true });
  return needed.map(({ tarball }) => {
    const path = join('vendor', vendorName(tarball));
    copyFileSync(tarball, join(folder, path));
    return path;
  });
}

/** Deletes the tarballs of earlier packings, which no entry names any more. */
export function removeOldTarballs({ folder }: Application, needed: readonly Packed[], all: readonly Packed[]): void {
  const kept = needed.map(({ tarball }) => vendorName(tarball));
  const ours = all.map(({ tarball }) => basename(tarball, '.tgz').replace(/-\d.*$/, ''));
  for (const name of readdirSync(join(folder, 'vendor'))) {
    const isOurs = ours.some((stem) => new RegExp(`^${stem}-\\d.*\\.tgz$`).test(name));
    if (isOurs && !kept.includes(name)) rmSync(join(folder, 'vendor', name));
  }
}

/** Writes entries into a file. What else it has, its order, its comments and its indentation stay. */
export function writeEdit({ file, field, entries }: Edit): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  writeFileSync(file, file.endsWith('.json') ? inJson(text, field, entries) : inYaml(text, field, entries));
}

/** Shows entries as their file would have them. */
export function showEdit({ file, field, entries }: Edit): string {
  const isJson = file.endsWith('.json');
  return (isJson ? inJson('{}', field, entries) : inYaml('', field, entries)).trimEnd();
}

function inJson(text: string, field: readonly string[], entries: Edit['entries']): string {
  const manifest = JSON.parse(text) as Record<string, unknown>;
  let parent = manifest;
  for (const name of field.slice(0, -1)) parent = (parent[name] ??= {}) as Record<string, unknown>;
  const last = field.at(-1)!;
  parent[last] = merged((parent[last] as Record<string, string> | undefined) ?? {}, entries);
  const indent = /^[{[]\r?\n([ \t]+)/.exec(text)?.[1] ?? '  ';
  return `${JSON.stringify(manifest, null, indent)}${text === '{}' || text.endsWith('\n') ? '\n' : ''}`;
}

/** A sorted list, which is what package managers write, stays sorted. */
function merged(there: Readonly<Record<string, string>>, entries: Edit['entries']): Record<string, string> {
  const names = Object.keys(there);
  const isSorted = names.every((name, index) => index === 0 || names[index - 1]! <= name);
  const all = Object.entries({ ...there, ...entries });
  return Object.fromEntries(isSorted ? all.sort(([a], [b]) => (a < b ? -1 : 1)) : all);
}

function inYaml(text: string, field: readonly string[], entries: Edit['entries']): string {
  const document = parseDocument(text);
  for (const [name, value] of Object.entries(entries)) document.setIn([...field, name], value);
  return document.toString({ lineWidth: 0, singleQuote: true });
}
