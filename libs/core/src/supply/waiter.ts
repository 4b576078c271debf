import { endListening, type WaitLimit } from '../generator/waiting.js';
import type { Timer } from '../time/timers.js';
import type { SupplyPorts } from './supply-ports.js';

/** The longest delay that every platform's timers know. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** What somebody wants. */
export interface Order<T> {
  /** How many numbers must be at hand. */
  readonly count: number;
  /** Takes them; called when it is this one's turn. */
  readonly take: () => T;
}

/** What becomes of a waiter. */
export interface WaiterEnds<T> {
  readonly resolve: (taken: T) => void;
  readonly reject: (reason: unknown) => void;
  /** Its time is up. */
  readonly expired: (waiter: Waiter<T>) => void;
  /** Its signal has fired. */
  readonly aborted: (waiter: Waiter<T>) => void;
}

/** Somebody who waits for numbers. Its timer keeps the process alive. */
export class Waiter<T = unknown> {
  private readonly giveUpAt: number;
  private readonly abort = (): void => {
    if (!this.isOver) this.ends.aborted(this);
  };
  private timer: Timer | undefined;
  /** It was answered, or has given up. */
  isOver = false;

  constructor(
    private readonly order: Order<T>,
    readonly limit: Pick<WaitLimit, 'timeoutMs' | 'signal'>,
    private readonly ports: Pick<SupplyPorts, 'monotonic' | 'timers'>,
    private readonly ends: WaiterEnds<T>,
  ) {
    this.giveUpAt = ports.monotonic.now() + limit.timeoutMs;
    // First: what it throws rejects the call, and nothing is left behind.
    limit.signal?.addEventListener('abort', this.abort);
    if (!this.isOver) this.setTimer(limit.timeoutMs);
  }

  get count(): number {
    return this.order.count;
  }

  serve(): void {
    this.leave();
    this.ends.resolve(this.order.take());
  }

  refuse(reason: unknown): void {
    this.leave();
    this.ends.reject(reason);
  }

  private leave(): void {
    this.isOver = true;
    this.timer?.cancel();
    endListening(this.limit.signal, this.abort);
  }

  private setTimer(ms: number): void {
    this.timer = this.ports.timers.setTimer(() => this.look(), Math.min(ms, MAX_DELAY_MS), 'foreground');
  }

  private look(): void {
    const leftMs = this.giveUpAt - this.ports.monotonic.now();
    if (leftMs > 0) this.setTimer(leftMs);
    else this.ends.expired(this);
  }
}
