import type { NumberService } from '@raindrop/nestjs';
import { ChaosProcess } from '../chaos-process.js';
import { IdFiles } from '../id-files.js';
import { Journal } from './journal.js';
import { APP, BROKEN, GATE_PASSES, KEYS, REDIS_KEYS, type Key, type SegmentOrders } from './segment-messages.js';
import { openSegments } from './segment-source.js';

const LARGEST_BATCH = 300;
const BURST = 8;
const DROPPED_SHARE = 0.002;

/** Draws numbers of every key in every way there is, and writes them down in order. */
class SegmentProcess extends ChaosProcess<SegmentOrders, NumberService> {
  protected isEndedByNest = false;
  private readonly files = new IdFiles<Key>(this.orders.prefix, KEYS);
  private readonly journal = new Journal(this.orders.prefix);

  protected async open(): Promise<NumberService> {
    const ids = await openSegments(this.orders, this.journal);
    this.isEndedByNest = true;
    return ids;
  }

  protected issue(ids: NumberService): Promise<unknown> {
    return Promise.all(KEYS.map((key) => this.draw(ids, key)));
  }

  protected counts(ids: NumberService): { readonly tenures: number; readonly storeTroubles: number } {
    return { tenures: 0, storeTroubles: ids.status().counters.failures };
  }

  /** One call after the other, so that what is in the file says how far the process has come with this key. */
  private draw(ids: NumberService, key: Key): Promise<void> {
    // Slowly from Redis in the control: a range that comes back is to have numbers left.
    const share = this.orders.control && REDIS_KEYS.includes(key) ? 0.1 : 1;
    return this.keepPace((share * this.orders.rate) / KEYS.length, async (owed) =>
      this.keep(key, await this.call(ids, key, Math.min(LARGEST_BATCH, owed))),
    );
  }

  private async call(ids: NumberService, key: Key, size: number): Promise<BigInt64Array> {
    const dice = this.random.fraction();
    if (key === '7_12' || key === '7_48') {
      const request = { app: APP, gatePass: GATE_PASSES[key] };
      return one(this.indexOf(key, dice < 0.7 ? ids.nextSharded(request) : await ids.nextShardedAsync(request)));
    }
    const code = key === 'plain' ? undefined : key;
    if (dice < 0.3) return one(ids.nextId(code));
    if (dice < 0.4) return one(await ids.nextIdAsync(code));
    if (dice < 0.5) return one(ids.forCode(key).nextId());
    if (dice < 0.6) return this.burst(ids, code);
    if (dice < 0.7) return BigInt64Array.from(await ids.nextIdsAsync(size, code));
    if (dice < 0.8) return ids.fillAsync(new BigInt64Array(size), code);
    return ids.fill(new BigInt64Array(size), code);
  }

  /** Several that wait at once; a call that waited too long has taken nothing. */
  private async burst(ids: NumberService, code: string | undefined): Promise<BigInt64Array> {
    const calls = await Promise.allSettled(Array.from({ length: BURST }, () => ids.nextIdAsync(code)));
    const got = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
    const failed = calls.find((call) => call.status === 'rejected');
    if (got.length === 0) throw failed!.reason;
    return BigInt64Array.from(got);
  }

  private indexOf(key: Key, id: bigint): bigint {
    const [app, shard] = [Number(id & 255n), Number((id >> 8n) & 63n)];
    if (key !== `${app}_${shard}`) this.unexpected('call', new Error(`${id} is no ID of ${key}`));
    return id >> 14n;
  }

  private keep(key: Key, numbers: BigInt64Array): number {
    const isLost =
      this.orders.control &&
      BROKEN[key] === 'dropped' &&
      numbers.length === 1 &&
      this.random.fraction() < DROPPED_SHARE;
    if (isLost) this.journal.add({ key, dropped: Number(numbers[0]) });
    else this.files.addAll(key, numbers);
    this.issued += numbers.length;
    return numbers.length;
  }
}

function one(id: bigint): BigInt64Array {
  return BigInt64Array.of(id);
}

void new SegmentProcess().run();
