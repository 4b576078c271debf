import { randomBytes } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { fileCalls, type FileCalls } from './file-calls.js';
import { StateFileCorruptError, StateFileUnusableError, systemCodeOf } from './state-file-errors.js';
import { hostTimers } from '../system/host-timers.js';

/** A text, and the name of its version: no other version will ever have that name. */
export interface StateVersion {
  readonly name: string;
  readonly text: string;
}

/** How often the directory may look as it can only look in passing. */
const PATIENCE = 40;
const PAUSE_MS = 1;

/** `17-` and something random: the number goes up by one with every version. */
const VERSION = /^(\d+)-[0-9a-f]{16}$/;

/** Another process has put a version in the place of the one we had. */
const OVERTAKEN = ['ENOENT', 'ENOTEMPTY', 'EEXIST'];

/**
 * A text in the file system that any number of processes replace by compare-and-swap.
 *
 * The current version 17 is the file `17-…` in the directory of the same name, the only one in `path`. Whoever replaces
 * it writes his file `18-…` beside it, and renames the directory to that name. Of all who do so for one version exactly
 * one has success: then the old name is gone, and since it never comes back, whoever was paused in between finds nothing
 * to rename, however late. There is no lock that could be left behind, and never a moment without a complete version.
 *
 * What is renamed, and what is answered with true, was on the disk before.
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
        // Replaced meanwhile, which somebody may do again and again.
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
    // That the directory around it is missing is no question of having been overtaken.
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

  /** Undefined when what it needs is not there, or something is where nothing should be: somebody was faster. */
  private async attempt<T>(work: () => Promise<T>, overtaken: readonly string[] = OVERTAKEN): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (overtaken.includes(systemCodeOf(error))) return undefined;
      throw StateFileUnusableError.from(this.path, error);
    }
  }

  /**
   * Removes what cannot become a version any more: all with a number up to the current one's. Once the version has been
   * replaced this finds nothing, since the directory has another name. What cannot be removed stays until the next time.
   */
  private async sweep(current: string): Promise<void> {
    const directory = join(this.path, current);
    try {
      const names = await this.files.list(directory);
      const old = names.filter((name) => name !== current && numberOf(name) <= numberOf(current));
      await Promise.all(old.map((name) => this.files.remove(join(directory, name))));
    } catch {
      // A little rubbish does no harm.
    }
  }

  /** What starts that were ended have left: a draft finds its place taken from now on. */
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
  if (versions.length > 1) return `it has the versions ${versions.join(', ')} at once, and only one is the last`;
  if (versions.length === 1) return `the file ${versions[0]} in the directory ${versions[0]} is missing`;
  return 'the directory of that name is not one that Raindrop has made, or its content was removed in part';
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
