import type { DataSource } from 'typeorm';

/** How many transactions of a MariaDB, MySQL or PostgreSQL database wait for a lock. */
export async function waitersOn(dataSource: DataSource): Promise<number> {
  const sql =
    dataSource.options.type === 'postgres'
      ? `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      : `SELECT trx_id FROM information_schema.innodb_trx JOIN information_schema.processlist
         ON id = trx_mysql_thread_id WHERE db = DATABASE() AND trx_state = 'LOCK WAIT'`;
  // InnoDB's tables stay as they are while somebody looks at them more often than ten times a second.
  if (dataSource.options.type !== 'postgres') await dataSource.query('DO SLEEP(0.15)');
  return (await dataSource.query<unknown[]>(sql)).length;
}
