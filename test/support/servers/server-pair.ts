import type { PrivateServer } from './private-server';

/** The engines there are pairs of. */
export type PairKind = 'postgres' | 'mariadb';

/** The database that a pair of MariaDBs has. */
export const PAIR_DATABASE = 'raindrop';

/** Who may do everything there, in TypeORM's options. */
export const PAIR_ACCOUNTS = {
  postgres: { type: 'postgres', username: 'postgres', database: 'postgres' },
  mariadb: { type: 'mariadb', username: 'root', database: PAIR_DATABASE },
} as const;

/** A primary and a standby that follows it asynchronously: what the primary acknowledged last may be missing there. */
export abstract class ServerPair {
  abstract readonly kind: PairKind;
  private standbyServer: PrivateServer | undefined;
  private former: PrivateServer | undefined;

  protected constructor(private primaryServer: PrivateServer) {}

  get primary(): PrivateServer {
    return this.primaryServer;
  }

  /** @throws Error when there is none. */
  get standby(): PrivateServer {
    if (this.standbyServer === undefined) throw new Error('there is no standby');
    return this.standbyServer;
  }

  /** Adds a standby. Resolves when it has all that is committed by now. */
  async addStandby(): Promise<void> {
    this.standbyServer = await this.startStandby();
    await this.catchUp();
  }

  /** From now on the standby misses what the primary commits. */
  abstract holdReplication(): Promise<void>;

  /** The standby hears of what it has missed. */
  abstract resumeReplication(): void | Promise<void>;

  /** kill -9 of the primary. */
  async killPrimary(): Promise<void> {
    await this.primary.kill('SIGKILL');
  }

  /** The standby becomes the primary, without what it has not received, and the old primary is gone for good. */
  async promote(): Promise<void> {
    const { primary } = this;
    await this.divide();
    await primary.stop();
  }

  /** The standby becomes the primary, and the old one does not hear of it: both take writes. */
  async divide(): Promise<void> {
    const { standby } = this;
    await this.former?.stop();
    this.former = this.primary;
    await this.elect(standby);
    this.primaryServer = standby;
    this.standbyServer = undefined;
  }

  /** Runs a statement on one of them, as an account that may do everything. */
  abstract query(server: PrivateServer, sql: string): Promise<Record<string, unknown>[]>;

  /** Ends both and removes their directories. Safe to call twice. */
  async stop(): Promise<void> {
    await Promise.all([this.standbyServer?.stop(), this.primary.stop(), this.former?.stop()]);
  }

  protected abstract startStandby(): Promise<PrivateServer>;

  /** Resolves when the standby has all that is committed by now. */
  protected abstract catchUp(): Promise<void>;

  /** Makes a standby take writes. */
  protected abstract elect(standby: PrivateServer): Promise<void>;
}
