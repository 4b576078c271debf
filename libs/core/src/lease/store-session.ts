import type { Timers } from '../time/timers.js';
import { StoreUnavailableError } from './lease-errors.js';
import type { WorkerStore } from './worker-store.js';

/** Puts a deadline on every call of a store. Past it the connection is dropped and the outcome stays unknown. */
export class StoreSession {
  constructor(
    private readonly store: WorkerStore,
    private readonly timers: Timers,
    private readonly opTimeoutMs: number,
  ) {}

  /** @throws StoreUnavailableError for every failure, the deadline included: whether it was executed is unknown */
  async run<T>(what: string, call: (store: WorkerStore) => Promise<T>, timeoutMs = this.opTimeoutMs): Promise<T> {
    let expire!: () => void;
    const deadline = new Promise<never>((_, reject) => {
      expire = () => reject(new Error(`no answer within ${timeoutMs} ms`));
    });
    const timer = this.timers.setTimer(
      () => {
        this.store.abandon();
        expire();
      },
      timeoutMs,
      'background',
    );
    try {
      return await Promise.race([call(this.store), deadline]);
    } catch (error) {
      throw new StoreUnavailableError(what, error);
    } finally {
      timer.cancel();
    }
  }
}
