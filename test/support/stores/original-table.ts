import type { DatabaseKind } from '../servers/test-databases.js';

/** The worker table as the Go original creates it; for SQLite, which it does not support, what that would be. */
export function originalTableSql(kind: DatabaseKind): string[] {
  const time = { mariadb: 'datetime', mysql: 'datetime', postgres: 'TIMESTAMP WITH TIME ZONE', sqlite: 'text' }[kind];
  const small = { mariadb: 'tinyint', mysql: 'tinyint', postgres: 'smallint', sqlite: 'tinyint' }[kind];
  const isMysql = kind === 'mariadb' || kind === 'mysql';
  return [
    `CREATE TABLE soc_raindrop_worker (
      id bigint NOT NULL,
      code varchar(128) NOT NULL DEFAULT '',
      ${kind === 'postgres' ? "lang_code varchar(128) NOT NULL DEFAULT ''," : ''}
      time_unit ${small} NOT NULL DEFAULT '2',
      heartbeat_time ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP,
      create_time ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP,
      update_time ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP ${isMysql ? 'ON UPDATE CURRENT_TIMESTAMP' : ''},
      version bigint NOT NULL DEFAULT '1',
      del_flag ${small} NOT NULL DEFAULT '2',
      PRIMARY KEY (id)
    )`,
    'CREATE INDEX idx_soc_raindrop_worker_heartbeat_time ON soc_raindrop_worker (heartbeat_time)',
    'CREATE INDEX idx_soc_raindrop_worker_code ON soc_raindrop_worker (code)',
  ];
}

/** How the original fills its table. */
export function originalInsertSql(ids: readonly number[]): string {
  const rows = ids.map((id) => `(${id}, '2023-01-01 00:00:00')`);
  return `INSERT INTO soc_raindrop_worker (id, heartbeat_time) VALUES ${rows.join(', ')}`;
}

/** How the original takes a row, at a time by its own clock and in its own zone. */
export function originalTakeSql(id: number, heartbeat: string, code = '10.0.0.9#80#1#cc'): string {
  return (
    `UPDATE soc_raindrop_worker SET code = '${code}', time_unit = 1, heartbeat_time = '${heartbeat}', ` +
    `version = version + 1 WHERE id = ${id} AND del_flag = 2`
  );
}

/** The rows that the original takes at its start, at a time by its own clock and in its own zone, 120 s after a heartbeat. */
export function originalFreeSql(twoMinutesAgo: string): string {
  return `SELECT id FROM soc_raindrop_worker WHERE del_flag = 2 AND heartbeat_time < '${twoMinutesAgo}' ORDER BY heartbeat_time`;
}

/** The row that the original takes with `PriorityEqualCodeWorkId`, alive or not. */
export function originalSameCodeSql(code: string): string {
  return `SELECT id FROM soc_raindrop_worker WHERE del_flag = 2 AND code = '${code}' ORDER BY id LIMIT 1`;
}
