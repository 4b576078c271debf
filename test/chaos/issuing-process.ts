import { setTimeout as sleep } from 'node:timers/promises';
import { IdFiles } from './id-files.js';
import type { IdSource } from './id-source.js';
import {
  ASK_CLOCK,
  CODES,
  ORDERS_VARIABLE,
  START_REFUSED_EXIT,
  type Code,
  type IssuingMessage,
  type IssuingOrders,
} from './issuing-messages.js';
import { SeededRandom } from '../../libs/core/src/testing/seeded-random.js';
import { wallOffset } from './wall-offset.js';

const REPORT_MS = 200;
const TURN_MS = 5;
const LARGEST_BATCH = 4_096;
const PAUSE_AFTER_REFUSAL_MS = 5;

/** One process of a chaos run: it issues IDs in every way there is, writes them down, and counts what it is refused. */
class IssuingProcess {
  private readonly orders = JSON.parse(process.env[ORDERS_VARIABLE]!) as IssuingOrders;
  private readonly random = new SeededRandom(this.orders.seed);
  private readonly files = new IdFiles(this.orders.prefix, CODES);
  private readonly refusals: Record<string, number> = {};
  private issued = 0;
  private tenures = 0;
  private storeTroubles = 0;
  private isClosing = false;

  async run(): Promise<void> {
    process.on('unhandledRejection', (reason) => this.unexpected('unhandled rejection', reason));
    process.on('uncaughtException', (error) => this.unexpected('uncaught exception', error));
    process.on('message', (message) => {
      if (message === ASK_CLOCK) say({ type: 'clock', offsetMs: wallOffset() });
    });
    // Ctrl-C goes to the whole group; the run that started this process ends it.
    process.on('SIGINT', () => undefined);
    process.once('SIGTERM', () => {
      this.isClosing = true;
      // Without a worker there is nothing to give back; from then on Nest ends the process.
      if (this.tenures === 0 || this.isOriginal) process.exit();
    });
    const source = await this.open();
    if (source === undefined) return;
    setInterval(() => this.report(), REPORT_MS).unref();
    await this.issue(source);
    this.report();
  }

  /** Under the original's protocol nothing is given back. */
  private get isOriginal(): boolean {
    return this.orders.control && this.orders.database['type'] !== 'redis';
  }

  private async open(): Promise<IdSource | undefined> {
    const events = { onTenure: () => this.tenures++, onStoreTrouble: () => this.storeTroubles++ };
    try {
      if (this.isOriginal) {
        return await (await import('./original-protocol.js')).OriginalProtocol.open(this.orders, events);
      }
      if (this.orders.control) (await import('./broken-redis-workers.js')).breakRedisWorkers();
      return await (await import('./raindrop-source.js')).openRaindrop(this.orders, events);
    } catch (error) {
      const { errorCode, retryable } = error as { errorCode?: string; retryable?: boolean };
      // A host whose clock stands before the epoch is told that the epoch lies in the future.
      const isTooEarly = errorCode === 'CONFIGURATION' && Date.now() < Date.parse(this.orders.layout.startTimeStamp);
      if (errorCode === undefined || !(retryable === true || isTooEarly)) this.unexpected('start', error);
      else say({ type: 'startRefused', errorCode });
      process.exitCode = START_REFUSED_EXIT;
      // Closes behind what was said.
      process.disconnect();
      return undefined;
    }
  }

  private async issue(source: IdSource): Promise<void> {
    let owed = 0;
    let last = performance.now();
    for (;;) {
      const now = performance.now();
      // What a pause has left undone is not made up for.
      owed = Math.min(owed + ((now - last) * this.orders.rate) / 1_000, this.orders.rate / 10);
      last = now;
      while (owed > 0) {
        try {
          owed -= await this.call(source, Math.ceil(owed));
        } catch (error) {
          if (this.refused(error)) return;
          owed = 0;
          await sleep(PAUSE_AFTER_REFUSAL_MS);
        }
      }
      await sleep(TURN_MS);
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

  /** Answers whether it is over. */
  private refused(error: unknown): boolean {
    const { errorCode, retryable } = (error ?? {}) as { errorCode?: string; retryable?: boolean };
    if (errorCode === 'CLOSED' && this.isClosing) return true;
    if (errorCode === undefined || retryable !== true) this.unexpected('call', error);
    this.refusals[errorCode ?? 'untyped'] = (this.refusals[errorCode ?? 'untyped'] ?? 0) + 1;
    return false;
  }

  private report(): void {
    const { issued, refusals, tenures, storeTroubles } = this;
    say({ type: 'report', issued, refusals, tenures, storeTroubles });
  }

  private unexpected(where: string, error: unknown): void {
    say({
      type: 'unexpected',
      what: `${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    });
  }
}

function say(message: IssuingMessage): void {
  if (process.connected) process.send!(message);
}

// Without the run that started it a process has no purpose.
process.once('disconnect', () => process.exit());
void new IssuingProcess().run();
