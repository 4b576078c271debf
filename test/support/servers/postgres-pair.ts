import { join } from 'node:path';
import { until } from '../until';
import { findProgram, postgresFolders } from './find-program';
import { PrivateServer } from './private-server';
import { startPostgres } from './private-servers';
import { runCommand } from './run-command';
import { serverAccount } from './server-account';
import { serverAddress } from './server-address';
import { ServerPair } from './server-pair';
import { endReceiver, stopReceiver } from './wal-receiver';
import { RunSql, withPostgresSession } from './sql-session';

const COPY_MS = 60_000;
const QUERY_MS = 5_000;

/**
 * A PostgreSQL and a hot standby that follows it asynchronously, as services offer them: what the primary acknowledged
 * in the moment before its end may be missing on the standby. Here that moment can be made to last.
 */
export class PostgresPair extends ServerPair {
  readonly kind = 'postgres';
  /** The stopped process that would receive what the primary writes. */
  private receiver: number | undefined;

  /** A primary; {@link addStandby} makes it a pair. @throws what {@link startPostgres} throws */
  static async start(): Promise<PostgresPair> {
    return new PostgresPair(await startPostgres());
  }

  async holdReplication(): Promise<void> {
    await this.catchUp();
    await until('the standby to wait for the primary', async () => {
      this.receiver = await stopReceiver((sql) => ask(this.standby, sql));
      return this.receiver !== undefined;
    });
  }

  resumeReplication(): void {
    if (this.receiver !== undefined) process.kill(this.receiver, 'SIGCONT');
    this.receiver = undefined;
  }

  query(server: PrivateServer, sql: string): Promise<Record<string, unknown>[]> {
    return withPostgres(server, (run) => run(sql));
  }

  override async stop(): Promise<void> {
    this.resumeReplication();
    await super.stop();
  }

  /** A copy of the primary, which sends it what it writes. */
  protected async startStandby(): Promise<PrivateServer> {
    const standby = await startStandby(this.primary);
    const isFollowed = `SELECT count(*) > 0 AS answer FROM pg_stat_replication WHERE state = 'streaming'`;
    await until('the primary to have a standby', () => ask<boolean>(this.primary, isFollowed));
    return standby;
  }

  protected async elect(standby: PrivateServer): Promise<void> {
    if (this.receiver !== undefined) await this.loseHeld(standby, this.receiver);
    this.receiver = undefined;
    await withPostgres(standby, (run) => run('SELECT pg_promote(false)'));
    await until(
      'the standby to be promoted',
      async () => !(await ask(standby, 'SELECT pg_is_in_recovery() AS answer')),
    );
  }

  /** Ends the receiver. The standby would start another before its promotion: it forgets its primary first. */
  private async loseHeld(standby: PrivateServer, receiver: number): Promise<void> {
    await withPostgres(standby, async (run) => {
      await run("ALTER SYSTEM SET primary_conninfo = ''");
      await run('SELECT pg_reload_conf()');
    });
    const isForgotten = `SELECT current_setting('primary_conninfo') = '' AS answer`;
    await until('the standby to forget its primary', () => ask<boolean>(standby, isForgotten));
    endReceiver(receiver);
  }

  protected async catchUp(): Promise<void> {
    const written = await ask<string>(this.primary, 'SELECT pg_current_wal_flush_lsn()::text AS answer');
    const has = `SELECT coalesce(pg_last_wal_replay_lsn() >= '${written}', false) AS answer`;
    await until('the standby to catch up', () => ask<boolean>(this.standby, has));
  }
}

/** Runs statements on a server as its superuser. */
export function withPostgres<T>(server: PrivateServer, work: (run: RunSql) => Promise<T>): Promise<T> {
  return withPostgresSession(serverAddress(server.url, server.port), QUERY_MS, work);
}

async function startStandby(primary: PrivateServer): Promise<PrivateServer> {
  const account = await serverAccount('postgres');
  const copy = findProgram('pg_basebackup', postgresFolders());
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
  return PrivateServer.start({
    kind: 'postgres',
    program: findProgram('postgres', postgresFolders()),
    account,
    stopSignal: 'SIGINT',
    async prepare(directory) {
      // -R writes what makes the copy a standby.
      const args = [...from, '-D', join(directory, 'data'), '-R', '--checkpoint=fast', '--no-sync', '--no-manifest'];
      await runCommand(copy, args, { ...account, cwd: directory, withinMs: COPY_MS });
    },
    arguments: (directory, port) => [
      ...['-D', join(directory, 'data'), '-p', String(port), '-k', directory],
      // As many connections as the primary permits: a standby must not permit fewer.
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=300', '-c', 'fsync=off'],
      // A standby that has just found its primary gone looks for it again, and does not hear of its promotion before.
      ...['-c', 'wal_retrieve_retry_interval=100ms'],
    ],
  });
}

/** One value. */
async function ask<T>(server: PrivateServer, sql: string): Promise<T> {
  const [row] = await withPostgres(server, (run) => run(sql));
  return row?.['answer'] as T;
}
