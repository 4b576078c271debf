import { hostname } from 'node:os';
import { resolve } from 'node:path';

/** The settings that tell where a database is. */
export interface PlaceSettings {
  readonly type: string;
  readonly url?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
  readonly database?: unknown;
  readonly schema?: unknown;
}

/** Where a database is, as far as its settings tell: without account and password. */
export function placeOf({ type, url, host = '', port = '', database = '', schema = '' }: PlaceSettings): string {
  // A file belongs to one host: there may be another of that name elsewhere.
  if (type === 'better-sqlite3') return `${hostname()} ${resolve(String(database))}`;
  const given = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  return `${given?.host ?? `${String(host)}:${String(port)}`}${given?.pathname ?? ''} ${String(database)} ${String(schema)}`;
}

/** Whether a SQLite database of this name lives in memory, and ends with its connection. */
export function isInMemory(database: unknown): boolean {
  if (typeof database !== 'string') return true;
  // The driver trims the name.
  const name = database.trim();
  return name === '' || name === ':memory:' || /^file:.*(:memory:|[?&]mode=memory)/.test(name);
}
