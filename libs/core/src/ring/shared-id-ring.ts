import { SequenceExhaustedError } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Timer } from '../ports.js';
import { showThrown } from '../show-value.js';
import { RingMemory, type RingState } from './ring-memory.js';
import { isBrief, isTransient, RingFiller, type RingSource } from './ring-filler.js';
import { makeHandle, type SharedIdRingHandle } from './ring-handle.js';
import {
  type PutRejection,
  type ResolvedRingOptions,
  resolveRingOptions,
  type RingPorts,
  type SharedIdRingOptions,
} from './ring-options.js';

/** The event loop gets a turn after this much work, ms. */
const WORK_MS = 0.5;

/** How long to wait for a refusal that passes by itself, ms. */
const PAUSE_MS = { min: 1, usual: 10, max: 100 };

/** A ring at one moment. */
export interface SharedIdRingStatus {
  readonly state: RingState;
  /** IDs in the ring, including old ones that takers would skip. */
  readonly left: number;
  readonly capacity: number;
  /** IDs taken since the start. A thread may still hold a part of its run. */
  readonly taken: number;
  /** Issued for the ring and thrown away, since the start. */
  readonly rejected: number;
  /** Why the ring failed, or waits to be filled; undefined when it has done neither. */
  readonly refusal: RaindropError | undefined;
}

/**
 * Hands IDs to other threads of this process: one producer, which may issue IDs, keeps a ring in shared memory filled,
 * and any number of threads take from it without a message to the producer, see `SharedIds`.
 *
 * The source issues every ID once, inside its reservation, and one thread takes it, once. When the source may not issue
 * (its lease is lost or in doubt), the producer empties the ring and takers get a `RingFailedError`; the ring opens again
 * by itself. Its timers keep no process alive.
 */
export class SharedIdRing {
  readonly handle: SharedIdRingHandle;
  private readonly memory: RingMemory;
  private readonly filler: RingFiller;
  private readonly options: ResolvedRingOptions;
  private readonly beatMs: number;
  private timer: Timer | undefined;
  private readonly rejections: PutRejections;
  private isListening = false;
  /** Once begun, filling goes on until the ring is full. */
  private isFilling = false;
  private refusal: RaindropError | undefined;
  private filledAt = Number.NEGATIVE_INFINITY;

  /**
   * Begins to fill the ring before it returns: for half a millisecond at most, and within its share of this tick.
   * @param onClosed called once, when the ring is closed, be it by `close()` or because the source is closed. That may be
   * before the constructor returns
   * @throws ConfigurationError naming every option that is wrong
   */
  constructor(
    source: RingSource,
    options: SharedIdRingOptions | undefined,
    private readonly ports: RingPorts,
    private readonly onClosed: (ring: SharedIdRing) => void = () => {},
  ) {
    this.options = resolveRingOptions(options);
    this.rejections = new PutRejections(ports.warn, this.options.onPutRejected);
    const { slots, maxAgeMs, producerTimeoutMs, tickShare, code } = this.options;
    this.memory = RingMemory.ofSlots(slots);
    this.handle = makeHandle(this.memory.buffer, source.layout, this.options);
    const setup = { capacity: this.handle.capacity, maxAgeMs: maxAgeMs / 2, tickShare, code };
    this.filler = new RingFiller(this.memory, source, setup);
    this.beatMs = Math.min(producerTimeoutMs / 4, maxAgeMs / 4, this.options.scheduleMs ?? 1_000, 1_000);
    this.work();
  }

  /** Tells how full the ring is, and what was put, taken and thrown away. */
  status(): SharedIdRingStatus {
    const { memory, refusal, handle, filler, rejections } = this;
    const [state, taken] = [memory.stateOf(memory.stateVersion), memory.head - rejections.count];
    return { state, left: filler.left, capacity: handle.capacity, taken, rejected: rejections.count, refusal };
  }

  /**
   * Throws away the IDs in the ring: takers get this error until the source issues again; the source is asked soon. To be
   * called when IDs that were issued so far must not be handed out any more, for example because a copy of this process
   * may hand them out as well.
   */
  discard(reason: RaindropError): void {
    if (this.isClosed) return;
    this.fail(reason, true);
    this.lookSoon();
  }

  /** Asks the source soon, and not only at the next beat: its state has changed. */
  lookSoon(): void {
    if (!this.isClosed) this.setTimer(0);
  }

  /** Closes the ring: takers get a `RingClosedError` at once, and the IDs in it are lost. A second call does nothing. */
  close(): void {
    if (this.isClosed) return;
    this.timer?.cancel();
    this.memory.setState('closed');
    this.rejections.report('closed', this.memory.clear());
    // Settles the promise of listen().
    this.memory.demand();
    this.onClosed(this);
  }

  private get isClosed(): boolean {
    return this.memory.stateOf(this.memory.stateVersion) === 'closed';
  }

  /** One turn of the producer's work: by a timer, on demand, or after an event. It sets the timer for the next turn. */
  private readonly work = (): void => {
    if (this.isClosed) return;
    // Before filling: a taker that asks from here on wakes the producer again.
    this.memory.resetDemand();
    const pauseMs = this.checkSource();
    if (this.isClosed) return;
    this.setTimer(pauseMs);
    if (pauseMs >= this.beatMs) this.listen();
  };

  /** Asks the source whether it issues, and fills the ring where that is due. @returns the time until the next turn, ms */
  private checkSource(): number {
    const { clock, monotonic } = this.ports;
    const { producerTimeoutMs } = this.options;
    const refusal = this.filler.refusal();
    if (refusal instanceof ClosedError) this.close();
    if (this.isClosed) return 0;
    this.memory.extend(monotonic.now() + producerTimeoutMs, clock.refresh() + producerTimeoutMs);
    if (refusal !== undefined && !isTransient(refusal)) return this.fail(refusal);
    this.refusal = undefined;
    const { stateVersion } = this.memory;
    const pauseMs = this.isFillingDue() ? this.fill() : this.beatMs;
    // The ring failed while it was filled.
    if (this.memory.stateVersion !== stateVersion) return PAUSE_MS.usual;
    // Filled before it opens: takers that wait since a failure must not find it empty.
    if (this.memory.stateOf(stateVersion) === 'failed') this.memory.setState('open');
    return pauseMs;
  }

  private isFillingDue(): boolean {
    const { clock, monotonic } = this.ports;
    const { scheduleMs } = this.options;
    if (this.filler.left < this.handle.lowWater || this.isFilling) return true;
    const isScheduled = scheduleMs !== undefined && monotonic.now() - this.filledAt >= scheduleMs;
    return isScheduled || this.filler.isAged(clock.refresh());
  }

  private fill(): number {
    const { filler, ports } = this;
    const { clock, monotonic } = ports;
    const until = monotonic.now() + WORK_MS;
    this.isFilling = true;
    while (monotonic.now() < until) {
      const wallMs = clock.refresh();
      if (filler.isFull && !filler.isAged(wallMs)) {
        this.isFilling = false;
        this.filledAt = monotonic.now();
        return this.beatMs;
      }
      const waitMs = filler.waitMs(wallMs);
      if (waitMs > 0) return this.pauseOf(waitMs);
      // Only from a full ring, and not more than put() replaces at once: takers never find the ring empty because of it.
      if (filler.isFull) this.rejections.report('aged', filler.dropAged(wallMs));
      const refusal = filler.put();
      if (refusal === undefined) continue;
      // An empty ring loses nothing by failing, and its takers learn why they wait.
      if (!isTransient(refusal) || (filler.left === 0 && !isBrief(refusal))) return this.fail(refusal);
      this.refusal = refusal;
      return this.pauseFor(refusal);
    }
    return 0;
  }

  private pauseFor(refusal: RaindropError): number {
    if (!(refusal instanceof SequenceExhaustedError)) return PAUSE_MS.usual;
    return this.pauseOf(refusal.availableAt.getTime() - this.ports.clock.refresh());
  }

  private pauseOf(ms: number): number {
    return Math.min(Math.max(ms, PAUSE_MS.min), PAUSE_MS.max, this.beatMs - 1);
  }

  /** @param again sets the state anew even if it is the same: put() must not publish the IDs that it is issuing now */
  private fail(refusal: RaindropError, again = false): number {
    const { memory } = this;
    const isNew = memory.stateOf(memory.stateVersion) !== 'failed' || this.refusal?.errorCode !== refusal.errorCode;
    this.refusal = refusal;
    if (isNew || again) memory.setState('failed', refusal);
    this.rejections.report('failed', memory.clear(), refusal.message);
    return Math.min(this.beatMs, PAUSE_MS.max);
  }

  /** Listens for demand. Demand that is there already waits for the event loop: busy takers must not block this thread. */
  private listen(): void {
    const { memory } = this;
    if (memory.isDemanded) return this.setTimer(0);
    if (this.isListening) return;
    const heard = this.ports.changes.changed(memory.words, memory.demandWord, 0);
    this.isListening = heard !== undefined;
    void heard?.then(() => {
      this.isListening = false;
      this.work();
    });
  }

  /**
   * Without a delay the next turn of the event loop works on, where a timer that keeps no process alive takes a
   * millisecond: in that time two threads empty the ring. Such turns end when the ring is full.
   */
  private setTimer(delayMs: number): void {
    this.timer?.cancel();
    this.timer = this.ports.timers.setTimer(this.work, delayMs, delayMs > 0 ? 'background' : 'foreground');
  }
}

/** Counts and reports the IDs that were issued for the ring and thrown away. */
class PutRejections {
  count = 0;

  /** @param handler in place of the log */
  constructor(
    private readonly warn: (message: string) => void,
    private readonly handler: ((rejection: PutRejection) => unknown) | undefined,
  ) {}

  /** Only `failed` is logged: `aged` is usual, and `closed` is on purpose. */
  report(reason: PutRejection['reason'], count: number, why = ''): void {
    if (count === 0) return;
    this.count += count;
    try {
      if (this.handler === undefined) {
        if (reason === 'failed') this.warn(`The ring was emptied and ${count} IDs were discarded: ${why}`);
        return;
      }
      const told = this.handler({ reason, count });
      Promise.resolve(told).catch((error: unknown) => this.warn(`onPutRejected rejected: ${showThrown(error)}`));
    } catch (error) {
      this.warn(`onPutRejected threw: ${showThrown(error)}`);
    }
  }
}
