import { Wait } from '../async.js';
import { WaitTimeoutError } from '../generator/generator-errors.js';
import type { WaitLimit } from '../generator/waiting.js';
import type { RaindropError } from '../raindrop-error.js';
import type { PrefetcherPorts, Timer } from '../ports.js';

/** How many waiters are answered before the event loop gets a turn (well under a millisecond). */
const SLICE = 250;

/** Callers that wait for numbers, served in the order in which they came. */
export class WaiterQueue {
  /** How many numbers all waiters want together. */
  demand = 0;
  private readonly waiters = new Set<Waiter>();
  private refusal: RaindropError | undefined;
  private continuation: Timer | undefined;

  private readonly expired = (waiter: Waiter): void => {
    this.lose(waiter, new WaitTimeoutError(waiter.limit.timeoutMs, this.shortage()));
  };
  private readonly aborted = (waiter: Waiter): void => this.lose(waiter, reasonOf(waiter));

  /** @param left how many numbers are at hand. @param shortage why no more came, for waiters that give up */
  constructor(
    private readonly ports: Pick<PrefetcherPorts, 'monotonic' | 'timers'>,
    private readonly left: () => number,
    private readonly shortage: () => RaindropError,
  ) {}

  get size(): number {
    return this.waiters.size;
  }

  /** @throws WaitTimeoutError; the signal's reason; the reason that {@link refuse} was given */
  wait<T>(request: TakeRequest<T>, limit: Pick<WaitLimit, 'timeoutMs' | 'signal'>): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      const { expired, aborted } = this;
      const waiter = new Waiter<unknown>(request, limit, this.ports, { resolve, reject, expired, aborted });
      if (waiter.isOver) return;
      this.waiters.add(waiter);
      this.demand += request.count;
    }) as Promise<T>;
  }

  /** Numbers have come: serves the waiters at the front, as far as there are enough. */
  serve(): void {
    this.refusal = undefined;
    this.proceed();
  }

  /** No more will come: refuses every waiter that wants more than is at hand, and serves the others. */
  refuse(reason: RaindropError): void {
    this.refusal = reason;
    this.proceed();
  }

  /** A waiter gives up. It may have wanted more than is at hand, and so have held up the waiters behind it. */
  private lose(waiter: Waiter, reason: unknown): void {
    this.remove(waiter);
    waiter.refuse(reason);
    this.proceed();
  }

  private proceed(): void {
    this.continuation?.cancel();
    this.continuation = undefined;
    let answered = 0;
    for (const waiter of this.waiters) {
      const isServed = waiter.count <= this.left();
      if (!isServed && this.refusal === undefined) return;
      if (answered++ === SLICE) {
        this.continuation = this.ports.timers.setTimer(() => this.proceed(), 0, 'foreground');
        return;
      }
      this.remove(waiter);
      if (isServed) waiter.serve();
      else waiter.refuse(this.refusal);
    }
    this.refusal = undefined;
  }

  private remove(waiter: Waiter): void {
    if (this.waiters.delete(waiter)) this.demand -= waiter.count;
  }
}

/** The application's own signal may throw when its reason is read. */
function reasonOf({ limit }: Waiter): unknown {
  try {
    return limit.signal!.reason;
  } catch (error) {
    return error;
  }
}

/** The request of one caller. */
export interface TakeRequest<T> {
  /** How many numbers must be at hand. */
  readonly count: number;
  /** Takes them; called when it is this caller's turn. */
  readonly take: () => T;
}

/** How a wait ends. */
interface WaiterEnds<T> {
  readonly resolve: (taken: T) => void;
  readonly reject: (reason: unknown) => void;
  /** Its time is up. */
  readonly expired: (waiter: Waiter<T>) => void;
  /** Its signal has fired. */
  readonly aborted: (waiter: Waiter<T>) => void;
}

/** A caller that waits for numbers. */
class Waiter<T = unknown> {
  private readonly giveUpAt: number;
  private readonly wait: Wait;

  constructor(
    private readonly request: TakeRequest<T>,
    readonly limit: Pick<WaitLimit, 'timeoutMs' | 'signal'>,
    private readonly ports: Pick<PrefetcherPorts, 'monotonic' | 'timers'>,
    private readonly ends: WaiterEnds<T>,
  ) {
    this.giveUpAt = ports.monotonic.now() + limit.timeoutMs;
    const { timers } = ports;
    this.wait = new Wait(
      timers,
      limit.signal,
      () => this.expireOrWait(),
      () => ends.aborted(this),
    );
    this.wait.begin(limit.timeoutMs);
  }

  /** It was answered, or gave up. */
  get isOver(): boolean {
    return this.wait.isOver;
  }

  get count(): number {
    return this.request.count;
  }

  serve(): void {
    this.wait.end();
    this.ends.resolve(this.request.take());
  }

  refuse(reason: unknown): void {
    this.wait.end();
    this.ends.reject(reason);
  }

  private expireOrWait(): void {
    const leftMs = this.giveUpAt - this.ports.monotonic.now();
    if (leftMs > 0) this.wait.setTimer(leftMs);
    else this.ends.expired(this);
  }
}
