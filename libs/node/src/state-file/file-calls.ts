import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';

/** What is asked of the file system. None of it stops the event loop. */
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
