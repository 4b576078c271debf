import Sqlite from 'better-sqlite3';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb, startPostgres } from '../../support/servers/private-servers.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { ChaosRedis } from './chaos-redis.js';
import type { ChaosDatabaseKind } from './fault-plan.js';

const LOCK_TRIES = 300;
const LOCK_PAUSE_MS = 5;

/** The database of a run; no other run uses it. */
export class ChaosDatabase {
  private busyWith: Promise<unknown> = Promise.resolve();

  private constructor(
    /** What TypeORM takes; of a Redis its type alone. */
    readonly options: Readonly<Record<string, unknown>>,
    private readonly server: PrivateServer | undefined,
    /** What keeps the worker ids instead of a database. */
    readonly redis?: ChaosRedis,
  ) {}

  /** @throws Error when the server is not installed or does not start */
  static async start(kind: ChaosDatabaseKind, directory: string): Promise<ChaosDatabase> {
    if (kind === 'sqlite') {
      return new ChaosDatabase({ type: 'better-sqlite3', database: join(directory, 'chaos.sqlite') }, undefined);
    }
    if (kind === 'redis') return new ChaosDatabase({ type: 'redis' }, undefined, await ChaosRedis.start());
    const server = await (kind === 'mariadb' ? startMariadb() : startPostgres());
    try {
      const { options } = await testDatabase(kind, server.url);
      return new ChaosDatabase({ ...options }, server);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Where the server listens; undefined for SQLite. */
  get target(): { readonly host: string; readonly port: number } | undefined {
    if (this.redis !== undefined) return this.redis.target;
    return this.server === undefined ? undefined : { host: '127.0.0.1', port: this.server.port };
  }

  /** kill -9 of the server, which comes back after a while. One after the other. */
  kill(downMs: number): Promise<void> {
    const killed = this.busyWith.then(async () => {
      await this.server!.kill('SIGKILL');
      await sleep(downMs);
      await this.server!.restart();
    });
    this.busyWith = killed.catch(() => undefined);
    return killed;
  }

  /**
   * Takes SQLite's write lock, or with `exclusive` that of the readers as well, and keeps it for so long.
   * Answers whether it was had.
   */
  async lock(ms: number, exclusive: boolean): Promise<boolean> {
    const database = new Sqlite(String(this.options['database']), { timeout: 0 });
    try {
      for (let tries = 0; ; tries++) {
        try {
          database.exec(exclusive ? 'BEGIN EXCLUSIVE' : 'BEGIN IMMEDIATE');
          break;
        } catch (error) {
          if (!(error as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw error;
          if (tries >= LOCK_TRIES) return false;
        }
        await sleep(LOCK_PAUSE_MS);
      }
      await sleep(ms);
      database.exec('ROLLBACK');
      return true;
    } finally {
      database.close();
    }
  }

  async stop(): Promise<void> {
    await this.busyWith;
    await this.server?.stop();
    await this.redis?.stop();
  }
}
