import { RaindropError } from '../raindrop-error.js';
import type { Timer, Timers } from '../ports.js';
import { ClockSkewError, StoreUnavailableError } from './lease-errors.js';
import type { WorkerStore } from './worker-store.js';

/** @throws ForeignTimeZoneError, StoreUnavailableError */
export function checkForeignTimes(session: StoreSession): Promise<void> {
  return session.run('comparing time zones', async (store) => store.checkForeignTimes?.());
}

/** Puts a deadline on every call of a store. Past it the connection is dropped and the outcome stays unknown. */
export class StoreSession {
  private readonly pending = new Set<() => void>();
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
    if (this.isOver) throw new StoreUnavailableError(what, new Error('there was no time left for it'));
    let expire!: () => void;
    const deadline = new Promise<never>((_, reject) => {
      expire = () => {
        // In this order: what the abandoned call itself rejects with comes too late to be taken for an answer.
        reject(new Error(`no answer within ${timeoutMs} ms`));
        this.store.abandon();
      };
    });
    const timer = this.timers.setTimer(expire, timeoutMs, 'background');
    this.pending.add(expire);
    try {
      return await Promise.race([call(this.store), deadline]);
    } catch (error) {
      // What no second try can mend keeps its name, and so does a clock that is wrong.
      if (error instanceof RaindropError && (!error.retryable || error instanceof ClockSkewError)) throw error;
      throw new StoreUnavailableError(what, error);
    } finally {
      timer.cancel();
      this.pending.delete(expire);
    }
  }

  /** The next call goes over a new connection: to the server that is the primary now. */
  reconnect(): void {
    this.store.abandon();
  }

  /** Gives the calls under way, and all to come but {@link close}, so much time together; then they fail. */
  endWithin(ms: number): void {
    const end = (): void => {
      this.isOver = true;
      for (const expire of this.pending) expire();
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
