import { SequenceExhaustedError } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Timer } from '../ports.js';
import { showThrown } from '../show-value.js';
import { RingMemory, type RingState } from './ring-memory.js';
import { isBrief, isPassing, PutRejections, RingFiller, type RingSource, ThrottledLog } from './ring-filler.js';
import { makeHandle, type SharedIdRingHandle } from './ring-handle.js';
import {
  type ResolvedRingOptions,
  resolveRingOptions,
  type RingPorts,
  type SharedIdRingOptions,
} from './ring-options.js';

/** The event loop gets a turn after so much work. */
const WORK_MS = 0.5;

/** How long to wait for what passes by itself, ms. */
const PAUSE_MS = { min: 1, usual: 10, max: 100 };

/**
 * Hands IDs to other threads of this process: one producer, which may issue IDs, keeps a ring in shared memory filled,
 * and any number of threads take from it without a word to the producer, see `SharedIds`.
 *
 * Every ID was issued by the source, once, inside what it had reserved, and is taken once. When the source may not issue
 * (its lease is lost or in doubt), the ring is emptied and takers get a `RingFailedError`; it opens again by itself. Its
 * timers keep no process alive.
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
   * Begins to fill the ring before it returns: for half a millisecond, and as far as its share of this tick goes.
   * @param onClosed called once, when it has been closed by whomever; that may be before this returns
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
    this.tend();
  }

  /** Tells how full the ring is, and what was put, taken and thrown away. */
  status(): SharedIdRingStatus {
    const { memory, refusal, handle, filler, rejections } = this;
    const [state, taken] = [memory.stateOf(memory.stamp), memory.head - rejections.count];
    return { state, left: filler.left, capacity: handle.capacity, taken, rejected: rejections.count, refusal };
  }

  /**
   * Throws away what is in the ring: takers get this error until the source issues again, which is looked at soon. Call
   * it when what was issued so far must not be handed out any more: another copy of this process may do so too.
   */
  discard(reason: RaindropError): void {
    if (this.isClosed) return;
    this.fail(reason, true);
    this.lookSoon();
  }

  /** Looks at the source soon, and not at the next beat only: something has happened to it. */
  lookSoon(): void {
    if (!this.isClosed) this.setTimer(0);
  }

  /** Ends it: takers get a `RingClosedError` at once, and what is left in it is lost. Twice does nothing. */
  close(): void {
    if (this.isClosed) return;
    this.timer?.cancel();
    this.memory.setState('closed');
    this.rejections.tell('closed', this.memory.clear());
    // Whoever listens for demand is let go.
    this.memory.demand();
    this.onClosed(this);
  }

  private get isClosed(): boolean {
    return this.memory.stateOf(this.memory.stamp) === 'closed';
  }

  /** Everything the producer does, whatever it was called for; it calls itself again. */
  private readonly tend = (): void => {
    if (this.isClosed) return;
    // Before filling: who asks from here on is heard of.
    this.memory.forgetDemand();
    const pauseMs = this.look();
    if (this.isClosed) return;
    this.setTimer(pauseMs);
    if (pauseMs >= this.beatMs) this.listen();
  };

  /** @returns how long it has time, ms */
  private look(): number {
    const { clock, monotonic } = this.ports;
    const { producerTimeoutMs } = this.options;
    const refusal = this.filler.refusal();
    if (refusal instanceof ClosedError) this.close();
    if (this.isClosed) return 0;
    this.memory.extend(monotonic.now() + producerTimeoutMs, clock.refresh() + producerTimeoutMs);
    if (refusal !== undefined && !isPassing(refusal)) return this.fail(refusal);
    this.refusal = undefined;
    const { stamp } = this.memory;
    const pauseMs = this.isFillingDue() ? this.fill() : this.beatMs;
    // It has failed meanwhile.
    if (this.memory.stamp !== stamp) return PAUSE_MS.usual;
    // Filled first: whom a failure has kept waiting would find it empty.
    if (this.memory.stateOf(stamp) === 'failed') this.memory.setState('open');
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
      // Only from a full ring, and no more than can be replaced at once: takers never find it empty for that.
      if (filler.isFull) this.rejections.tell('aged', filler.dropAged(wallMs));
      const refusal = filler.put();
      if (refusal === undefined) continue;
      // Of an empty ring nothing is lost, and takers hear what they wait for.
      if (!isPassing(refusal) || (filler.left === 0 && !isBrief(refusal))) return this.fail(refusal);
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

  /** @param again also when takers know this already: what is being issued just now must not be published either */
  private fail(refusal: RaindropError, again = false): number {
    const { memory } = this;
    const isNew = memory.stateOf(memory.stamp) !== 'failed' || this.refusal?.errorCode !== refusal.errorCode;
    this.refusal = refusal;
    if (isNew || again) memory.setState('failed', refusal);
    this.rejections.tell('failed', memory.clear(), refusal.message);
    return Math.min(this.beatMs, PAUSE_MS.max);
  }

  /** Demand that has come meanwhile waits for the next turn: takers who never pause must not hold up this thread. */
  private listen(): void {
    const { memory } = this;
    if (memory.isDemanded) return this.setTimer(0);
    if (this.isListening) return;
    const heard = this.ports.changes.changed(memory.words, memory.demandWord, 0);
    this.isListening = heard !== undefined;
    void heard?.then(() => {
      this.isListening = false;
      this.tend();
    });
  }

  private setTimer(delayMs: number): void {
    this.timer?.cancel();
    this.timer = this.ports.timers.setTimer(this.tend, delayMs, 'background');
  }
}

/** A ring at one moment. */
export interface SharedIdRingStatus {
  readonly state: RingState;
  /** IDs that can be taken; old ones that takers would skip included. */
  readonly left: number;
  readonly capacity: number;
  /** Since the start. A thread may still hold a run of what it has taken. */
  readonly taken: number;
  /** Issued for the ring and thrown away, since the start. */
  readonly rejected: number;
  /** Why the ring failed, or waits to be filled; undefined when all is well. */
  readonly refusal: RaindropError | undefined;
}

/** What becomes of calls that get no ID. */
export class TakeRejections {
  count = 0;
  private readonly rejected: ThrottledLog;
  private readonly unhandled: ThrottledLog;

  /** @param handler in place of the log */
  constructor(
    ports: Pick<RingPorts, 'monotonic' | 'warn'>,
    private readonly handler: ((error: RaindropError) => unknown) | undefined,
  ) {
    this.rejected = new ThrottledLog(ports);
    this.unhandled = new ThrottledLog(ports);
  }

  /** Tells of one. @returns what is to be thrown. @throws what the handler throws */
  tell(error: RaindropError): RaindropError {
    this.count++;
    if (this.handler === undefined) this.log(error);
    // An async one rejects later, when nobody could catch it.
    else Promise.resolve(this.handler(error)).catch((reason: unknown) => this.logHandler(reason));
    return error;
  }

  private log({ message }: RaindropError): void {
    this.rejected.tell((count) => `${count} takes from the ring were rejected, the last one: ${message}`);
  }

  private logHandler(reason: unknown): void {
    this.unhandled.tell((count) => `onTakeRejected rejected ${count} times, the last time: ${showThrown(reason)}`);
  }
}
