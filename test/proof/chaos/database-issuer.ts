import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { databaseIdSql, type SnowflakeModuleOptions } from '@raindrop/node';
import type { ChaosTally } from './chaos-tally.js';
import { IdFiles } from './id-files.js';
import { CODES } from './issuing-messages.js';

const BATCH = 50;
const PAUSE_MS = 20;
/** A fence closes the function once in so many batches. */
const FENCED_EACH = 40;

/** The codes that a server which is killed, or starts, answers with. */
const DOWN = ['57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', ''];

/** The database as one more issuer of a run: its IDs are compared with those of the processes. */
export class DatabaseIssuer {
  private readonly over = new AbortController();
  private readonly working: Promise<void>[];
  private issued = 0;

  /**
   * @param database the options of a PostgreSQL with the worker table
   * @param ids where all issuers write
   */
  constructor(
    private readonly database: Readonly<Record<string, unknown>>,
    private readonly layout: SnowflakeModuleOptions,
    ids: string,
    private readonly tally: ChaosTally,
  ) {
    this.working = [1, 2].map((number) => this.work(new IdFiles(join(ids, `database-${number}`), CODES)));
  }

  /** Settles when the last ID is on file. */
  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.working);
    if (this.issued < 1_000) this.tally.blame(`the database has issued ${this.issued} IDs only`);
  }

  private async work(files: IdFiles): Promise<void> {
    let client: Client | undefined;
    while (!this.over.signal.aborted) {
      try {
        client ??= await this.connect();
        await this.draw(client, files);
      } catch (error) {
        const { code = '' } = error as { code?: string };
        if (code !== 'RD001') {
          await client?.end().catch(() => {});
          client = undefined;
        }
        if (code !== 'RD001' && !DOWN.includes(code)) this.tally.blame(`the database issues no IDs: ${String(error)}`);
      }
      await sleep(PAUSE_MS);
    }
    await client?.end().catch(() => {});
  }

  private async connect(): Promise<Client> {
    const { host, port, username, password, database } = this.database;
    const client = new Client({ host, port, user: username, password, database } as ClientConfig);
    client.on('error', () => {});
    await client.connect();
    // The highest worker of the layout: that of no process. To install it again is harmless.
    await client.query(databaseIdSql(this.layout, { workerId: 2 ** (this.layout.workIdLength ?? 0) - 1 }));
    return client;
  }

  /** Draws a batch, every second one in a transaction that is rolled back. */
  private async draw(client: Client, files: IdFiles): Promise<void> {
    for (let batch = 1; batch <= FENCED_EACH && !this.over.signal.aborted; batch++) {
      if (batch % 2 === 0) await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>(
        `SELECT raindrop_id()::text AS id FROM generate_series(1, ${BATCH})`,
      );
      files.addAll(
        CODES[0],
        BigInt64Array.from(rows, ({ id }) => BigInt(id)),
      );
      this.issued += rows.length;
      this.tally.issued += rows.length;
      if (batch % 2 === 0) await client.query('ROLLBACK');
      await sleep(PAUSE_MS);
    }
    await client.query(`SELECT raindrop_id_close(${Date.now()}, false)`);
  }
}
