import { quoteTable, type Statement } from '../database/dialect.js';
import { bindings } from '../database/statement.js';
import type { Table } from '../tables/table-kind.js';

/** One start, as it is written down. */
export interface WorkerNode {
  readonly hostName: string;
  /** The service's port and something random: it tells this row from all others. */
  readonly port: string;
  /** 1 in a container, 2 on a machine. */
  readonly type: 1 | 2;
}

export function insertNode({ dialect, name }: Table, { hostName, port, type }: WorkerNode): Statement {
  const columns = ['host_name', 'port', 'type', 'launch_date', 'modified', 'created'].map((column) =>
    dialect.quote(column),
  );
  const { values, value } = bindings(dialect);
  const { nowTime } = dialect;
  const row = [value(hostName), value(port), value(type), nowTime, nowTime, nowTime].join(', ');
  const id = dialect.quote('id');
  const returning = dialect.hasReturning ? ` RETURNING ${dialect.exactInteger(id)} AS ${id}` : '';
  const sql = `INSERT INTO ${quoteTable(dialect, name)} (${columns.join(', ')}) VALUES (${row})${returning}`;
  return { sql, values };
}

export function selectHighest({ dialect, name }: Table): Statement {
  const id = dialect.quote('id');
  const highest = dialect.exactInteger(`MAX(${id})`);
  return { sql: `SELECT ${highest} AS ${id} FROM ${quoteTable(dialect, name)}`, values: [] };
}

/** How many rows have this id, and how many of them this port. */
export function countNodes({ dialect, name }: Table, id: number, port: string): Statement {
  const own = `COUNT(CASE WHEN ${dialect.quote('port')} = ${dialect.placeholder(1)} THEN 1 END)`;
  const condition = `${dialect.quote('id')} = ${dialect.placeholder(2)}`;
  const sql = `SELECT COUNT(*) AS nodes, ${own} AS own FROM ${quoteTable(dialect, name)} WHERE ${condition}`;
  return { sql, values: [port, id] };
}

/** The first row from this id on, and how long ago it was made, ms. */
export function selectAge({ dialect, name }: Table, from: number): Statement {
  const id = dialect.quote('id');
  const ageMs = `${dialect.nowMs} - ${dialect.timeAsMs(dialect.quote('created'))}`;
  const sql =
    `SELECT ${dialect.exactInteger(id)} AS ${id}, ${ageMs} AS age_ms FROM ${quoteTable(dialect, name)} ` +
    `WHERE ${id} >= ${dialect.placeholder(1)} ORDER BY ${quoteTable(dialect, name)}.${id} LIMIT 1`;
  return { sql, values: [from] };
}
