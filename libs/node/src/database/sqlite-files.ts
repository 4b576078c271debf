import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseCallError, driverCodeOf } from './database-errors.js';
import type { DriverConnection } from './sql-database.js';

/** The code by which SQLite says it when it writes; in a WAL it does not notice. */
export const MOVED = 'SQLITE_READONLY_DBMOVED';

/**
 * The files behind a session of SQLite. A file that was deleted, or replaced by another of its name, lives on for the
 * processes that have it open: a process that opens the name later sees nothing of what they write. The name that was
 * given counts, also where it is that of a link: the link may lead elsewhere by now.
 */
export class SqliteFiles {
  private readonly identities = new Map<string, string>();

  /** @param given is looked at before it is opened; a driver may not tell */
  constructor(given: string | undefined) {
    // The driver trims it.
    const file = given?.trim();
    if (file !== undefined) this.identities.set(resolve(file), identityOf(file));
  }

  /** @throws DatabaseCallError when what was opened is not what was there before */
  async hold(connection: DriverConnection): Promise<void> {
    const { records } = await connection.query('PRAGMA database_list', []);
    // Attached ones are among them.
    for (const { file } of records) {
      if (typeof file === 'string' && file !== '') this.identities.set(file, this.identities.get(file) ?? '');
    }
    for (const [file, before] of this.identities) {
      const identity = identityOf(file);
      if (identity === '' || (before !== '' && before !== identity)) throw moved(file);
      this.identities.set(file, identity);
    }
  }

  /**
   * Not by the thread pool, which may be busy for seconds.
   * @throws DatabaseCallError when one of them is another one
   */
  check(): void {
    for (const [file, identity] of this.identities) if (identityOf(file) !== identity) throw moved(file);
  }
}

function moved(file: string): DatabaseCallError {
  return new DatabaseCallError(`the database's file ${file} was deleted or replaced while it was open`, MOVED);
}

/** Which file it is; '' for none. @throws what says neither, such as EACCES */
function identityOf(file: string): string {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}.${ino}`;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(driverCodeOf(error))) throw error;
    return '';
  }
}
