import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import {
  ASK_CLOCK,
  ORDERS_VARIABLE,
  START_REFUSED_EXIT,
  type IssuingMessage,
  type ProcessOrders,
} from './issuing-messages.js';
import { wallOffset } from './wall-offset.js';

const REPORT_MS = 200;
const TURN_MS = 5;
const PAUSE_AFTER_REFUSAL_MS = 5;

/** An error as far as it says what it is. */
export interface Coded {
  readonly errorCode?: string;
  readonly retryable?: boolean;
}

/** What else a process reports. */
export interface Counts {
  readonly tenures: number;
  readonly storeTroubles: number;
  /** Of those that have them: how many backfills were opened. */
  readonly backfills?: number;
}

/** A process of a chaos run: it issues at a pace until it is told to end, and reports what it got and was refused. */
export abstract class ChaosProcess<Orders extends ProcessOrders, Source> {
  protected readonly orders = JSON.parse(process.env[ORDERS_VARIABLE]!) as Orders;
  protected readonly random = new SeededRandom(this.orders.seed);
  protected issued = 0;
  private readonly refusals: Record<string, number> = {};
  private isClosing = false;
  private longestRefusalMs = 0;

  /** Opens what it issues from. */
  protected abstract open(): Promise<Source>;

  /** Issues until it is over. */
  protected abstract issue(source: Source): Promise<unknown>;

  /** What else is reported of it. */
  protected abstract counts(source: Source): Counts;

  /** Whether Nest ends it at SIGTERM, because there is something to give back. */
  protected abstract readonly isEndedByNest: boolean;

  /** Whether a process that could not start for this reason may be started again. */
  protected mayStartLater({ retryable }: Coded): boolean {
    return retryable === true;
  }

  async run(): Promise<void> {
    // Without the run that started it a process has no purpose.
    process.once('disconnect', () => process.exit());
    process.on('unhandledRejection', (reason) => this.unexpected('unhandled rejection', reason));
    process.on('uncaughtException', (error) => this.unexpected('uncaught exception', error));
    process.on('message', (message) => {
      if (message === ASK_CLOCK) say({ type: 'clock', offsetMs: wallOffset() });
    });
    // Ctrl-C goes to the whole group; the run that started this process ends it.
    process.on('SIGINT', () => undefined);
    process.once('SIGTERM', () => {
      this.isClosing = true;
      if (!this.isEndedByNest) process.exit();
    });
    const source = await this.open().catch((error: unknown) => this.startRefused(error as Coded));
    if (source === undefined) return;
    const report = (): void => {
      const { issued, refusals, longestRefusalMs } = this;
      say({ type: 'report', issued, refusals, longestRefusalMs, ...this.counts(source) });
    };
    setInterval(report, REPORT_MS).unref();
    await this.issue(source);
    report();
  }

  /**
   * Calls so often that so many are issued in a second, until the source is closed.
   * @param call is told how many are owed, and answers with how many it got
   */
  protected async keepPace(rate: number, call: (owed: number) => Promise<number>): Promise<void> {
    let owed = 0;
    let last = performance.now();
    let refusedSince: number | undefined;
    for (;;) {
      const now = performance.now();
      // What a pause has left undone is not made up for.
      owed = Math.min(owed + ((now - last) * rate) / 1_000, rate / 10);
      last = now;
      while (owed > 0) {
        try {
          owed -= await call(Math.ceil(owed));
          refusedSince = undefined;
        } catch (error) {
          if (this.refused(error as Coded)) return;
          refusedSince ??= performance.now();
          this.longestRefusalMs = Math.max(this.longestRefusalMs, performance.now() - refusedSince);
          owed = 0;
          await sleep(PAUSE_AFTER_REFUSAL_MS);
        }
      }
      await sleep(TURN_MS);
    }
  }

  protected unexpected(where: string, error: unknown): void {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say({ type: 'unexpected', what: `${where}: ${what}` });
  }

  private startRefused(error: Coded): undefined {
    const { errorCode } = error;
    if (errorCode === undefined || !this.mayStartLater(error)) this.unexpected('start', error);
    else say({ type: 'startRefused', errorCode });
    process.exitCode = START_REFUSED_EXIT;
    // Closes behind what was said.
    setImmediate(() => process.disconnect());
  }

  /** A backfill was refused: it may be, where the error has a code. */
  protected notBackfilled(error: Coded): void {
    const { errorCode } = error;
    if (errorCode === undefined) return this.unexpected('backfill', error);
    const what = `backfill: ${errorCode}`;
    this.refusals[what] = (this.refusals[what] ?? 0) + 1;
  }

  /** Answers whether it is over. */
  private refused(error: Coded | undefined): boolean {
    const { errorCode = 'untyped', retryable } = error ?? {};
    if (errorCode === 'CLOSED' && this.isClosing) return true;
    if (errorCode === 'untyped' || retryable !== true) this.unexpected('call', error);
    this.refusals[errorCode] = (this.refusals[errorCode] ?? 0) + 1;
    return false;
  }
}

function say(message: IssuingMessage): void {
  if (process.connected) process.send!(message);
}
