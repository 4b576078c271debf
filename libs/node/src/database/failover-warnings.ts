import type { OwnDatabase } from './own-database.js';

/**
 * What lets a failover repeat IDs although no setting says so, in words.
 * @param seen the server's term: '' where nothing tells, undefined before it was asked for
 * @param limits how old a session may get, ms, and what else helps where there is no term
 */
export async function failoverWarnings(
  database: OwnDatabase,
  seen: string | undefined,
  { maxSessionAgeMs, cure }: { readonly maxSessionAgeMs: number; readonly cure: string },
): Promise<string[]> {
  const { dialect, age } = database;
  const warnings: string[] = [];
  if (dialect.family === 'sqlite') return warnings;
  if (age.isPooled) {
    warnings.push(
      `a pooler shares its sessions with this service: let none get older than ${Math.floor(maxSessionAgeMs / 1_000)} s there ` +
        `(PgBouncer: server_lifetime), or a primary that was replaced and lives on could be written to`,
    );
  }
  if (seen === '') {
    warnings.push(
      `nothing tells this server from one that is promoted in its place${await followers(database)}: a failover that loses commits can repeat IDs; ${cure}`,
    );
  }
  return warnings;
}

/** The standbys that a server has, which only matter where nothing tells them from it, in words. */
async function followers(database: OwnDatabase): Promise<string> {
  const { standbys } = database.dialect;
  if (standbys === undefined) return '';
  try {
    const { records } = await database.call((run) => run(standbys));
    const count = Number(records[0]?.standbys);
    return count > 0 ? `, and it has ${count} standby${count === 1 ? '' : 's'}` : '';
  } catch {
    // A server that does not tell that either.
    return '';
  }
}
