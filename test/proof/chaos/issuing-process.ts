import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import { ChaosProcess, type Coded, type Counts } from './chaos-process.js';
import { IdFiles } from './id-files.js';
import type { IdSource } from './id-source.js';
import { CODES, type Code, type IssuingOrders } from './issuing-messages.js';

const LARGEST_BATCH = 4_096;

/** About so often a process opens a backfill, ms. */
const BACKFILL_EVERY_MS = 500;

/** So many IDs it issues there. */
const BACKFILLED = 200;

/** Issues IDs in every way there is under a lease, and writes them down. */
class IssuingProcess extends ChaosProcess<IssuingOrders, IdSource> {
  private readonly files = new IdFiles(this.orders.prefix, CODES);
  private tenures = 0;
  private storeTroubles = 0;
  private backfills = 0;
  private isOver = false;

  /** Under the original's protocol nothing is given back. */
  private get isOriginal(): boolean {
    return this.orders.control && this.orders.database['type'] !== 'redis';
  }

  /** Without a worker there is nothing to give back. */
  protected get isEndedByNest(): boolean {
    return this.tenures > 0 && !this.isOriginal;
  }

  protected async open(): Promise<IdSource> {
    const events = { onTenure: () => this.tenures++, onStoreTrouble: () => this.storeTroubles++ };
    if (this.isOriginal) {
      return (await import('./original-protocol.js')).OriginalProtocol.open(this.orders, events);
    }
    if (this.orders.control) (await import('./broken-redis-workers.js')).breakRedisWorkers();
    if (this.orders.withoutTerms === true) (await import('./broken-terms.js')).breakTerms(this.orders.database['type']);
    return (await import('./raindrop-source.js')).openRaindrop(this.orders, events);
  }

  /** A host whose clock stands before the epoch is told that the epoch lies in the future. */
  protected override mayStartLater(error: Coded): boolean {
    const isTooEarly = Date.now() < Date.parse(this.orders.layout.startTimeStamp);
    return super.mayStartLater(error) || (error.errorCode === 'CONFIGURATION' && isTooEarly);
  }

  protected async issue(source: IdSource): Promise<void> {
    if (!this.orders.control) void this.backfill(new SeededRandom(this.orders.seed + 1));
    await this.keepPace(this.orders.rate, (owed) => this.call(source, owed));
    this.isOver = true;
  }

  protected counts(): Counts {
    return { tenures: this.tenures, storeTroubles: this.storeTroubles, backfills: this.backfills };
  }

  /** Again and again some seconds of the last minute, next to the IDs of now. */
  private async backfill(random: SeededRandom): Promise<void> {
    const { openPast } = await import('./raindrop-source.js');
    while (!this.isOver) {
      await sleep(BACKFILL_EVERY_MS * (0.5 + random.fraction()), undefined, { ref: false });
      const to = Date.now() - Math.floor(random.fraction() * 10_000);
      const from = to - Math.ceil(random.fraction() * random.pick([1_000, 10_000, 50_000]));
      try {
        const past = await openPast(this.orders, from, to);
        if (past === undefined) return;
        this.backfills++;
        for (let each = 0; each < BACKFILLED; each++)
          this.add('plain', past.at(from + (each * (to - from)) / BACKFILLED));
      } catch (error) {
        this.notBackfilled(error as Coded);
      }
    }
  }

  /** Mostly batches; answers with how many IDs it got. */
  private async call(source: IdSource, owed: number): Promise<number> {
    const code = this.random.pick(CODES);
    const name = code === 'plain' ? undefined : code;
    const dice = this.random.fraction();
    if (dice < 0.1) return this.add(code, source.nextId(name));
    if (dice < 0.15) return this.add(code, await source.nextIdAsync(name));
    if (dice < 0.25 && name !== undefined) return this.add(code, source.forCode(name).nextId());
    const size = Math.min(LARGEST_BATCH, owed, 1 + Math.floor(this.random.fraction() * LARGEST_BATCH));
    const batch = source.fill(new BigInt64Array(size), name);
    this.files.addAll(code, batch);
    this.issued += size;
    return size;
  }

  private add(code: Code, id: bigint): number {
    this.files.add(code, id);
    this.issued++;
    return 1;
  }
}

void new IssuingProcess().run();
