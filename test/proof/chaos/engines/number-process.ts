import { IdService, type NumberService, RaindropModule } from '@raindrop/nestjs';
import { redisBuffer } from '@raindrop/node/redis';
import { businessNumber, prepareBusinessNumbers, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SILENT, startApp } from '../../../support/module/start-app.js';
import { PORTS, sqlDatabase } from '../../../support/stores/sql-database.js';
import { ChaosProcess } from '../chaos-process.js';
import { IdFiles } from '../id-files.js';
import { openRedis } from './open-redis.js';
import { DOCUMENTS, NUMBER_CODES, type NumberOrders } from './number-messages.js';

const GAPLESS_RATE = 100;
const LARGEST_BATCH = 300;
const OP_TIMEOUT_MS = 1_000;

/** No connection of the application's own pool is older; no statement waits for longer. */
const POOL = { max: 2, connectionTimeoutMillis: 3_000, query_timeout: 6_000, maxLifetimeSeconds: 20 };

/** Draws numbers from segments, and writes rows with gapless ones. */
class NumberProcess extends ChaosProcess<NumberOrders, NumberService> {
  protected isEndedByNest = false;
  private readonly files = new IdFiles(this.orders.prefix, NUMBER_CODES);
  private documents: DataSource | undefined;
  private isOver = false;

  protected async open(): Promise<NumberService> {
    const { database, redis } = this.orders;
    const app = await startApp([
      RaindropModule.forRoot({
        idMode: 'numberSection',
        defaultCode: 'segment',
        codes: ['segment'],
        defaultStep: 1_000,
        maxStep: 20_000,
        asyncTimeoutMs: 500,
        opTimeoutMs: OP_TIMEOUT_MS,
        retryBaseMs: 20,
        retryMaxMs: 300,
        dbConfig: sqlDatabase(database, PORTS[process.pid % 2]),
        ...(redis !== undefined && { redis: redisBuffer({ connection: openRedis(redis) }) }),
        logger: SILENT,
      }),
    ]);
    app.enableShutdownHooks(['SIGTERM']);
    this.isEndedByNest = true;
    return app.get<NumberService>(IdService);
  }

  protected async issue(ids: NumberService): Promise<void> {
    const gapless = this.keepPace(GAPLESS_RATE, () => this.document());
    await this.keepPace(this.orders.rate, (owed) => this.draw(ids, Math.min(LARGEST_BATCH, owed)));
    this.isOver = true;
    await gapless;
    await this.documents?.destroy().catch(() => undefined);
  }

  protected counts(ids: NumberService): { readonly tenures: number; readonly storeTroubles: number } {
    return { tenures: 0, storeTroubles: ids.status().counters.failures };
  }

  private async draw(ids: NumberService, size: number): Promise<number> {
    const numbers =
      this.random.fraction() < 0.5 ? ids.fill(new BigInt64Array(size)) : BigInt64Array.of(await ids.nextIdAsync());
    this.files.addAll('segment', numbers);
    this.issued += numbers.length;
    return numbers.length;
  }

  /** A row with a number of its own; what the database says in an outage is a refusal. */
  private async document(): Promise<number> {
    if (this.isOver) throw Object.assign(new Error('over'), { errorCode: 'CLOSED', retryable: false });
    try {
      this.documents ??= await openDocuments(this.orders.database);
      const number = await transactionWithRetries(this.documents, async (manager) => {
        const given = await businessNumber(manager, '{seq}', { name: 'chaos' });
        await manager.query(`INSERT INTO ${DOCUMENTS} (number) VALUES (${given})`);
        return given;
      });
      this.files.add('gapless', BigInt(number));
      this.issued++;
      return 1;
    } catch (error) {
      const { errorCode, code } = error as { errorCode?: string; code?: unknown };
      throw Object.assign(new Error(String(error)), {
        errorCode: `gapless ${errorCode ?? String(code)}`,
        retryable: true,
      });
    }
  }
}

async function openDocuments(database: NumberOrders['database']): Promise<DataSource> {
  const extra = database['type'] === 'postgres' ? POOL : { connectionLimit: POOL.max };
  const options = { ...database, connectTimeout: POOL.connectionTimeoutMillis, extra };
  const documents = new DataSource(options as unknown as DataSourceOptions);
  await documents.initialize();
  try {
    await prepareBusinessNumbers(documents);
    await documents.query(`CREATE TABLE IF NOT EXISTS ${DOCUMENTS} (id ${idOf(database)}, number bigint NOT NULL)`);
    return documents;
  } catch (error) {
    await documents.destroy();
    throw error;
  }
}

/** A Galera cluster wants primary keys. */
function idOf({ type }: NumberOrders['database']): string {
  return type === 'postgres'
    ? 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY'
    : 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY';
}

void new NumberProcess().run();
