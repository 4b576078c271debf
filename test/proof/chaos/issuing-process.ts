import { ChaosProcess, type Coded } from './chaos-process.js';
import { IdFiles } from './id-files.js';
import type { IdSource } from './id-source.js';
import { CODES, type Code, type IssuingOrders } from './issuing-messages.js';

const LARGEST_BATCH = 4_096;

/** Issues IDs in every way there is under a lease, and writes them down. */
class IssuingProcess extends ChaosProcess<IssuingOrders, IdSource> {
  private readonly files = new IdFiles(this.orders.prefix, CODES);
  private tenures = 0;
  private storeTroubles = 0;

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

  protected issue(source: IdSource): Promise<void> {
    return this.keepPace(this.orders.rate, (owed) => this.call(source, owed));
  }

  protected counts(): { readonly tenures: number; readonly storeTroubles: number } {
    return { tenures: this.tenures, storeTroubles: this.storeTroubles };
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
