import { Deadline } from '../async.js';
import type { WorkerRange } from '../layout/layout-options.js';
import type { Timer, Timers } from '../ports.js';
import { RaindropError } from '../raindrop-error.js';
import { ClockSkewError, StoreUnavailableError } from './lease-errors.js';
import type { SampleRequest, WorkerSample, WorkerStore } from './worker-store.js';

/** Puts a deadline on every call of a store. Past it the connection is dropped and the outcome stays unknown. */
export class StoreSession {
  private readonly pending = new Set<Deadline>();
  private ending: Timer | undefined;
  private isOver = false;

  constructor(
    private readonly store: WorkerStore,
    private readonly timers: Timers,
    private readonly opTimeoutMs: number,
  ) {}

  /**
   * Makes a call of the store.
   * @throws StoreUnavailableError for every failure, the deadline included: whether it was executed is unknown;
   * ClockSkewError; the store's own error when it is not retryable
   */
  async run<T>(what: string, call: (store: WorkerStore) => Promise<T>, timeoutMs = this.opTimeoutMs): Promise<T> {
    if (this.isOver) throw new StoreUnavailableError(what, new Error('no time was left for the call'));
    const deadline = new Deadline(timeoutMs, this.timers, () => this.store.abandon());
    this.pending.add(deadline);
    try {
      return await deadline.run(() => call(this.store));
    } catch (error) {
      // An error that no second try can mend keeps its name, and so does a clock that is wrong.
      if (error instanceof RaindropError && (!error.retryable || error instanceof ClockSkewError)) throw error;
      throw new StoreUnavailableError(what, error);
    } finally {
      this.pending.delete(deadline);
    }
  }

  /**
   * Creates what is missing, and the rows. That takes several statements: it gets the time of ten.
   * @param sample makes the request of a sample, which is read with the look whether anything is missing
   * @returns that sample, where nothing is missing and the store can tell both at once; it is as old as this call
   * @throws as `run`
   */
  async prepare(workers: WorkerRange, sample?: () => SampleRequest): Promise<WorkerSample | undefined> {
    const prepare = <T>(call: (store: WorkerStore) => Promise<T>): Promise<T> =>
      this.run('preparing the worker table', call, 10 * this.opTimeoutMs);
    const request = this.store.readPrepared && sample?.();
    const found = request && (await prepare(async (store) => store.readPrepared?.(workers, request)));
    if (found !== undefined) return found;
    await prepare((store) => store.prepare(workers));
    return undefined;
  }

  /** Makes the next call go over a new connection: it leads to the server that is the primary then. */
  reconnect(): void {
    this.store.abandon();
  }

  /** Gives the calls under way, and all later ones but {@link close}, so much time together; then they fail. */
  endWithin(ms: number): void {
    const end = (): void => {
      this.isOver = true;
      for (const deadline of this.pending) deadline.expire();
    };
    this.ending ??= this.timers.setTimer(end, ms, 'background');
  }

  /** Never rejects: a connection that cannot be closed is dropped. */
  async close(): Promise<void> {
    this.ending?.cancel();
    this.isOver = false;
    try {
      await this.run('closing', (store) => store.close());
    } catch {
      this.store.abandon();
    }
  }
}

/** @throws ForeignTimeZoneError, StoreUnavailableError */
export function checkForeignTimes(session: StoreSession): Promise<void> {
  return session.run('comparing time zones', async (store) => store.checkForeignTimes?.());
}
