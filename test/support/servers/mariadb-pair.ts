import { PrivateServer } from './private-server';
import { startMariadb } from './private-servers';
import { serverAddress } from './server-address';
import { PAIR_DATABASE, ServerPair } from './server-pair';
import { withMysqlSession } from './sql-session';

const QUERY_MS = 10_000;

/** A MariaDB and a replica that follows it by GTID, read-only, as anybody sets them up. */
export class MariadbPair extends ServerPair {
  readonly kind = 'mariadb';
  /** Each primary has the id of the one before the last: two servers that take turns. */
  takesTurns = false;
  private servers = 1;
  private elected = 1;

  /** A primary; {@link addStandby} makes it a pair. @throws what {@link startMariadb} throws */
  static async start(): Promise<MariadbPair> {
    const pair = new MariadbPair(await startMariadb(replicating(1)));
    await pair.query(pair.primary, `CREATE DATABASE ${PAIR_DATABASE}`);
    return pair;
  }

  /** It begins with nothing and reads the whole log of the primary. */
  protected async startStandby(): Promise<PrivateServer> {
    const standby = await startMariadb(replicating(++this.servers));
    const { port } = this.primary;
    for (const sql of [
      `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${port}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
      'START SLAVE',
      'SET GLOBAL read_only = 1',
    ]) {
      await this.query(standby, sql);
    }
    return standby;
  }

  async holdReplication(): Promise<void> {
    await this.catchUp();
    await this.query(this.standby, 'STOP SLAVE IO_THREAD');
  }

  async resumeReplication(): Promise<void> {
    await this.query(this.standby, 'START SLAVE IO_THREAD');
  }

  query(server: PrivateServer, sql: string): Promise<Record<string, unknown>[]> {
    return withMysqlSession(serverAddress(server.url, server.port), QUERY_MS, (run) => run(sql));
  }

  protected async elect(standby: PrivateServer): Promise<void> {
    for (const sql of ['STOP SLAVE', 'RESET SLAVE ALL']) await this.query(standby, sql);
    // A replica passes over what carries its own id: it gets the id when it has read all.
    if (this.takesTurns) await this.query(standby, `SET GLOBAL server_id = ${(this.elected = 3 - this.elected)}`);
    await this.query(standby, 'SET GLOBAL read_only = 0');
  }

  protected async catchUp(): Promise<void> {
    const [position] = await this.query(this.primary, 'SELECT @@GLOBAL.gtid_binlog_pos AS answer');
    const wait = `SELECT MASTER_GTID_WAIT('${String(position!['answer'])}', ${QUERY_MS / 2_000}) AS answer`;
    const [waited] = await this.query(this.standby, wait);
    if (Number(waited!['answer']) !== 0) throw new Error('the replica does not catch up');
  }
}

function replicating(serverId: number): string[] {
  return [
    `--server-id=${serverId}`,
    '--log-bin=binlog',
    '--log-slave-updates',
    '--binlog-format=ROW',
    '--sync-binlog=1',
  ];
}
