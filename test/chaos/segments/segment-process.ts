import type { IdService } from '@raindrop/nestjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdFiles } from '../id-files.js';
import { ORDERS_VARIABLE, START_REFUSED_EXIT, type IssuingMessage } from '../issuing-messages.js';
import { SeededRandom } from '../../../libs/core/src/testing/seeded-random.js';
import { Journal } from './journal.js';
import { APP, BROKEN, GATE_PASSES, KEYS, REDIS_KEYS, type Key, type SegmentOrders } from './segment-messages.js';
import { openSegments } from './segment-source.js';

const REPORT_MS = 200;
const TURN_MS = 5;
const LARGEST_BATCH = 300;
const BURST = 8;
const PAUSE_AFTER_REFUSAL_MS = 5;
const DROPPED_SHARE = 0.002;

/** One process of a segment run: it draws numbers of every key in every way there is, and writes them down in order. */
class SegmentProcess {
  private readonly orders = JSON.parse(process.env[ORDERS_VARIABLE]!) as SegmentOrders;
  private readonly random = new SeededRandom(this.orders.seed);
  private readonly files = new IdFiles<Key>(this.orders.prefix, KEYS);
  private readonly journal = new Journal(this.orders.prefix);
  private readonly refusals: Record<string, number> = {};
  private issued = 0;
  private isOpen = false;
  private isClosing = false;

  async run(): Promise<void> {
    process.on('unhandledRejection', (reason) => this.unexpected('unhandled rejection', reason));
    process.on('uncaughtException', (error) => this.unexpected('uncaught exception', error));
    // Ctrl-C goes to the whole group; the run that started this process ends it.
    process.on('SIGINT', () => undefined);
    process.once('SIGTERM', () => {
      this.isClosing = true;
      // From when it is open on Nest ends the process.
      if (!this.isOpen) process.exit();
    });
    const ids = await this.open();
    if (ids === undefined) return;
    this.isOpen = true;
    setInterval(() => this.report(ids), REPORT_MS).unref();
    await Promise.all(KEYS.map((key) => this.draw(ids, key)));
    this.report(ids);
  }

  private async open(): Promise<IdService | undefined> {
    try {
      return await openSegments(this.orders, this.journal);
    } catch (error) {
      const { errorCode, retryable } = error as { errorCode?: string; retryable?: boolean };
      if (errorCode === undefined || retryable !== true) this.unexpected('start', error);
      else say({ type: 'startRefused', errorCode });
      process.exitCode = START_REFUSED_EXIT;
      // Closes behind what was said.
      setImmediate(() => process.disconnect());
      return undefined;
    }
  }

  /** One call after the other, so that what is in the file says how far the process has come with this key. */
  private async draw(ids: IdService, key: Key): Promise<void> {
    // Slowly from Redis in the control: a range that comes back is to have numbers left.
    const share = this.orders.control && REDIS_KEYS.includes(key) ? 0.1 : 1;
    const rate = (share * this.orders.rate) / KEYS.length;
    let owed = 0;
    let last = performance.now();
    for (;;) {
      const now = performance.now();
      // What a pause has left undone is not made up for.
      owed = Math.min(owed + ((now - last) * rate) / 1_000, rate / 10);
      last = now;
      while (owed > 0) {
        try {
          owed -= this.keep(key, await this.call(ids, key, Math.min(LARGEST_BATCH, Math.ceil(owed))));
        } catch (error) {
          if (this.refused(error)) return;
          owed = 0;
          await sleep(PAUSE_AFTER_REFUSAL_MS);
        }
      }
      await sleep(TURN_MS);
    }
  }

  private async call(ids: IdService, key: Key, size: number): Promise<BigInt64Array> {
    const dice = this.random.fraction();
    if (key === '7_12' || key === '7_48') {
      const request = { app: APP, gatePass: GATE_PASSES[key] };
      return one(this.indexOf(key, dice < 0.7 ? ids.next(request) : await ids.nextAsync(request)));
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

  /** Several that wait at once; whoever waited too long has taken nothing. */
  private async burst(ids: IdService, code: string | undefined): Promise<BigInt64Array> {
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

  /** Answers whether it is over. */
  private refused(error: unknown): boolean {
    const { errorCode, retryable } = (error ?? {}) as { errorCode?: string; retryable?: boolean };
    if (errorCode === 'CLOSED' && this.isClosing) return true;
    if (errorCode === undefined || retryable !== true) this.unexpected('call', error);
    this.refusals[errorCode ?? 'untyped'] = (this.refusals[errorCode ?? 'untyped'] ?? 0) + 1;
    return false;
  }

  private report(ids: IdService): void {
    const { issued, refusals } = this;
    const status = ids.status();
    const storeTroubles = status.idMode === 'numberSection' ? status.counters.failures : 0;
    say({ type: 'report', issued, refusals, tenures: 0, storeTroubles });
  }

  private unexpected(where: string, error: unknown): void {
    say({
      type: 'unexpected',
      what: `${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    });
  }
}

function one(id: bigint): BigInt64Array {
  return BigInt64Array.of(id);
}

function say(message: IssuingMessage): void {
  if (process.connected) process.send!(message);
}

// Without the run that started it a process has no purpose.
process.once('disconnect', () => process.exit());
void new SegmentProcess().run();
