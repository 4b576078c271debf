import { serverAddress } from '../../support/servers/server-address.js';
import { withPostgresSession } from '../../support/servers/sql-session.js';

const STATEMENT_MS = 30_000;

/** What the database holds of the tables that are adopted. */
export interface Rows {
  /** Each row as a text, by its key. */
  readonly users: ReadonlyMap<string, string>;
  readonly sessions: ReadonlyMap<string, string>;
  /** The foreign keys that hold, each as it is defined. */
  readonly foreignKeys: readonly string[];
}

export async function readRows(url: URL): Promise<Rows> {
  const [users, sessions, foreignKeys] = await sql(
    url,
    'SELECT id::text, row_to_json(u)::text AS text FROM "user" u',
    'SELECT id::text, row_to_json(s)::text AS text FROM session s',
    `SELECT conname AS id, conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS text
     FROM pg_constraint WHERE contype = 'f' AND convalidated ORDER BY conname`,
  );
  return { users: byId(users!), sessions: byId(sessions!), foreignKeys: [...byId(foreignKeys!).values()] };
}

/** @returns the rows of each statement */
export function sql(url: URL, ...statements: readonly string[]): Promise<Record<string, unknown>[][]> {
  return withPostgresSession(serverAddress(url.href, 5432), STATEMENT_MS, async (run) => {
    const results: Record<string, unknown>[][] = [];
    for (const statement of statements) results.push(await run(statement));
    return results;
  });
}

function byId(rows: readonly Record<string, unknown>[]): Map<string, string> {
  return new Map(rows.map(({ id, text }) => [String(id), String(text)]));
}
