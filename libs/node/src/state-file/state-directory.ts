import { randomBytes } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { PermanentError } from '@raindrop/core/internal';
import { hostTimers } from '../system/system-ports.js';

/** A text, and the name of its version: no other version will ever have that name. */
export interface StateVersion {
  readonly name: string;
  readonly text: string;
}

/**
 * How often in a row a list may show what it can show only while another process renames, before it counts as damage.
 */
const PATIENCE = 40;
const PAUSE_MS = 1;

/** `17-` and something random: the number goes up by one with every version. */
const VERSION = /^(\d+)-[0-9a-f]{16}$/;

/** Another process has put a version in the place of the one we had. */
const OVERTAKEN = ['ENOENT', 'ENOTEMPTY', 'EEXIST'];

/**
 * A text in the file system that any number of processes replace by compare-and-swap.
 *
 * The current version 17 is the file `17-…` in the directory of the same name, the only one in `path`. A process
 * that replaces it writes its file `18-…` beside it, and renames the directory to that name. Of all processes that do
 * so for one version exactly one succeeds: then the old name is gone and never comes back, so a process that was paused
 * in between finds nothing to rename, however late. There is no lock that could be left behind, and never a moment
 * without a complete version.
 *
 * A version is on the disk before its directory is renamed, and the rename is on the disk before the call settles.
 */
export class StateDirectory {
  readonly path: string;

  constructor(
    path: string,
    private readonly files: FileCalls = fileCalls,
  ) {
    this.path = resolve(path);
  }

  /**
   * The current version; undefined when there has never been one.
   * @param known a version that need not be read again
   * @throws StateFileCorruptError, StateFileUnusableError
   */
  async read(known?: StateVersion): Promise<StateVersion | undefined> {
    let before: string | undefined;
    for (let strange = 0; ; await hostTimers.sleep(PAUSE_MS)) {
      const names = await this.list();
      if (names === undefined) return undefined;
      const versions = names.filter((name) => VERSION.test(name));
      if (versions.length === 1) {
        const name = versions[0]!;
        if (name === known?.name) return known;
        const text = await this.attempt(() => this.files.read(join(this.path, name, name)));
        if (text !== undefined) return { name, text };
        // Another process has replaced it meanwhile, and may do so again and again.
        strange = name === before ? strange : 0;
        before = name;
      }
      // A list that is made while a directory is renamed may have both names, or none.
      if (++strange < PATIENCE) continue;
      if (names.length === 0) return undefined;
      throw new StateFileCorruptError(this.path, reasonOf(versions));
    }
  }

  /**
   * Puts a text in place of a version, unless another one has taken its place. A rejection leaves open whether it has.
   * @throws StateFileUnusableError
   */
  async replace({ name }: StateVersion, text: string): Promise<StateVersion | undefined> {
    const { files, path } = this;
    const [from, next] = [join(path, name), successorOf(name)];
    const done = await this.attempt(async () => {
      await files.createFile(join(from, next), text);
      await files.syncDirectory(from);
      await files.rename(from, join(path, next));
      return true;
    });
    if (done === undefined) return undefined;
    await files.syncDirectory(path);
    await this.sweep(next);
    return { name: next, text };
  }

  /**
   * Writes the first version, unless there is one.
   * @throws StateFileUnusableError
   */
  async create(text: string): Promise<StateVersion | undefined> {
    const { files, path } = this;
    const draft = `${path}.${nonce()}.new`;
    const first = successorOf('0-');
    // ENOENT here is no sign of another process: the directory around it is missing.
    await this.attempt(() => files.createDirectory(draft), []);
    const done = await this.attempt(async () => {
      await files.createDirectory(join(draft, first));
      await files.createFile(join(draft, first, first), text);
      await files.syncDirectory(join(draft, first));
      await files.syncDirectory(draft);
      await files.rename(draft, path);
      return true;
    });
    if (done === undefined) {
      await files.remove(draft);
      return undefined;
    }
    await files.syncDirectory(dirname(path));
    await this.sweepDrafts();
    return { name: first, text };
  }

  private async list(): Promise<string[] | undefined> {
    return this.attempt(() => this.files.list(this.path));
  }

  /** Undefined when another process was faster: a file is missing, or is where none should be. */
  private async attempt<T>(work: () => Promise<T>, overtaken: readonly string[] = OVERTAKEN): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (overtaken.includes(systemCodeOf(error))) return undefined;
      throw StateFileUnusableError.from(this.path, error);
    }
  }

  /**
   * Removes the files that cannot become a version any more: all with a number up to the current one's. Once the
   * version has been replaced this finds nothing, since the directory has another name. A file that cannot be removed
   * stays until the next time.
   */
  private async sweep(current: string): Promise<void> {
    const directory = join(this.path, current);
    try {
      const names = await this.files.list(directory);
      const old = names.filter((name) => name !== current && numberOf(name) <= numberOf(current));
      await Promise.all(old.map((name) => this.files.remove(join(directory, name))));
    } catch {
      // A file that is left over does no harm.
    }
  }

  /** Removes the drafts of starts that were ended. A draft that is still written finds its place taken from now on. */
  private async sweepDrafts(): Promise<void> {
    const parent = dirname(this.path);
    const prefix = `${basename(this.path)}.`;
    const isDraft = (name: string): boolean =>
      name.startsWith(prefix) && /^[0-9a-f]{16}\.new$/.test(name.slice(prefix.length));
    try {
      const drafts = (await this.files.list(parent)).filter(isDraft);
      await Promise.all(drafts.map((name) => this.files.remove(join(parent, name))));
    } catch {
      // As above.
    }
  }
}

function reasonOf(versions: readonly string[]): string {
  if (versions.length > 1) return `it has the versions ${versions.join(', ')} at once, but only one can be the last`;
  if (versions.length === 1) return `the file ${versions[0]} in the directory ${versions[0]} is missing`;
  return 'Raindrop did not make the directory of that name, or part of its content was removed';
}

function successorOf(name: string): string {
  return `${numberOf(name) + 1}-${nonce()}`;
}

/** NaN, which is neither above nor below a number, for what is no version. */
function numberOf(name: string): number {
  return Number(/^(\d+)-/.exec(name)?.[1] ?? Number.NaN);
}

/** Not randomUUID: two processes from one start-up snapshot drew the same ones. */
function nonce(): string {
  return randomBytes(8).toString('hex');
}

/** The calls of the file system. None of them stops the event loop. */
export interface FileCalls {
  /** The names in a directory. */
  list(directory: string): Promise<string[]>;
  read(file: string): Promise<string>;
  /** Creates a directory that is not there yet, for this user alone. */
  createDirectory(directory: string): Promise<void>;
  /** Creates a file that is not there yet, for this user alone; settles when its content is on the disk. */
  createFile(file: string, text: string): Promise<void>;
  /** Settles when the names in the directory are on the disk. */
  syncDirectory(directory: string): Promise<void>;
  /** Gives a directory another name, in one step; onto another directory only while that is empty. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a directory, and does nothing when it is not there. */
  remove(path: string): Promise<void>;
}

export const fileCalls: FileCalls = {
  list: (directory) => readdir(directory),
  read: (file) => readFile(file, 'utf8'),
  createDirectory: (directory) => mkdir(directory, { mode: 0o700 }),
  async createFile(file, text) {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  async syncDirectory(directory) {
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
};

/** File systems on Linux by their magic numbers, and what to know of them. */
const KNOWN: Readonly<Record<number, string>> = {
  0x01021994: 'stateFile is volatile: it is on a tmpfs, which a restart of the machine empties; use a disk',
  0x858458f6: 'stateFile is volatile: it is on a ramfs, which a restart of the machine empties; use a disk',
  0x794c7630:
    "stateFile is volatile: it is in a container's own layer, which is deleted with the container; use a mounted " +
    'volume',
  0x6969: 'stateFile is remote: on NFS a rename may be reported as failed although it succeeded; use a local disk',
};

/** Why the file system of this path can lose the state, or hide it, in words; empty when no reason is known. */
export async function fileSystemWarnings(path: string): Promise<readonly string[]> {
  const { type } = await statfs(path);
  const warning = KNOWN[type >>> 0];
  return warning === undefined ? [] : [warning];
}

/** The state file has content that Raindrop has not written. Nothing is guessed, and nothing begins from zero. */
export class StateFileCorruptError extends PermanentError {
  static override readonly name = 'StateFileCorruptError';
  readonly errorCode = 'STATE_FILE_CORRUPT';

  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(
      `stateFile ${path} cannot be used: ${reason}. It records how far IDs were issued. Restore it only from a copy ` +
        `that is newer than every ID, or remove it once the clock is past all of them.`,
    );
  }
}

/** The state file cannot be made, read or written where it is to be. */
export class StateFileUnusableError extends PermanentError {
  static override readonly name = 'StateFileUnusableError';
  readonly errorCode = 'STATE_FILE_UNUSABLE';

  constructor(
    readonly path: string,
    readonly reason: string,
    /** Node's code, such as `EACCES`. */
    readonly systemCode: string,
  ) {
    super(`stateFile ${path} cannot be used: ${reason} (${systemCode}).`);
  }

  /** The error in question where no second try helps; any other one as it is. */
  static from(path: string, error: unknown): unknown {
    const code = systemCodeOf(error);
    const reason = REASONS[code];
    return reason === undefined ? error : new StateFileUnusableError(path, reason, code);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its parent directory does not exist; create it, or choose another path',
  EACCES: 'this process may not write there; grant it access, or choose another path',
  EPERM: 'the system does not permit it; choose a path on a local disk',
  EROFS: 'the file system is read-only; choose a writable path',
  ENOTDIR:
    'part of its path is not a directory (Raindrop keeps its state in a directory of that name); choose another path',
  EXDEV: 'it is part of an image, or a mount point; choose a path inside a volume',
  EBUSY: 'it is a mount point; choose a path inside it',
  ELOOP: 'its path is a loop of links; choose another path',
  ENAMETOOLONG: 'its path is too long; choose a shorter one',
};

/** Node's code of a failed call; '' when there is none. */
function systemCodeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
