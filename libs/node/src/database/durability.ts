/** Settings of a database that decide whether an acknowledged commit outlives a crash. */
export interface DurabilityCheck {
  /** One record of settings, or one record each. */
  readonly sql: readonly string[];
  /**
   * The settings that can lose commits, each as `name is value: what follows`.
   * @param orElse what else helps against the loss of the last commits, or nothing
   */
  readonly judge: (settings: Readonly<Record<string, string>>, orElse: string) => string[];
}

/** MySQL 0 and 2 write the log to disk once a second; MariaDB's 3 is stricter than 1. */
const FLUSHED_AT_COMMIT = ['1', '3'];

export const mysqlDurability: DurabilityCheck = {
  sql: [
    'SELECT @@GLOBAL.innodb_flush_log_at_trx_commit AS flush_log, @@GLOBAL.log_bin AS log_bin, @@GLOBAL.sync_binlog AS sync_binlog',
  ],
  judge: ({ flush_log, log_bin, sync_binlog }, orElse) => {
    const problems: string[] = [];
    if (!FLUSHED_AT_COMMIT.includes(flush_log!)) {
      problems.push(
        `innodb_flush_log_at_trx_commit is ${flush_log}: a crash can lose a second of commits; set it to 1${orElse}`,
      );
    }
    if (log_bin === '1' && sync_binlog !== '1') {
      problems.push(
        `sync_binlog is ${sync_binlog}: a crash can lose commits missing from the binary log; set it to 1${orElse}`,
      );
    }
    return problems;
  },
};

export const postgresDurability: DurabilityCheck = {
  sql: [
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync, ` +
      `current_setting('synchronous_standby_names') AS standbys`,
  ],
  judge: ({ synchronous_commit, fsync, standbys }, orElse) => {
    const problems: string[] = [];
    if (fsync === 'off')
      problems.push(
        'fsync is off: a crash of the machine can lose commits, or corrupt the whole database; set it to on',
      );
    // The session has switched it on; a pooler between us and the server may have undone that.
    if (synchronous_commit === 'off') {
      problems.push(
        `synchronous_commit is off, although Raindrop turns it on: a crash can lose commits; set it to on${orElse}`,
      );
    }
    if (standbys !== '' && ['local', 'remote_write'].includes(synchronous_commit!)) {
      problems.push(`synchronous_commit is ${synchronous_commit}: a failover can lose commits; set it to on${orElse}`);
    }
    return problems;
  },
};

/** SQLite's numbers: 2 is FULL, 3 EXTRA. */
const SYNCED_AT_COMMIT = ['2', '3'];

export const sqliteDurability: DurabilityCheck = {
  sql: ['PRAGMA synchronous', 'PRAGMA journal_mode'],
  judge: ({ synchronous, journal_mode }, orElse) => {
    const problems: string[] = [];
    if (!SYNCED_AT_COMMIT.includes(synchronous!)) {
      problems.push(`synchronous is ${synchronous}: a power failure can lose commits; set it to FULL${orElse}`);
    }
    if (journal_mode === 'off' || journal_mode === 'memory') {
      problems.push(`journal_mode is ${journal_mode}: a crash during a write can corrupt the file; use wal or delete`);
    }
    return problems;
  },
};
