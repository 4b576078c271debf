import { OptionReader } from '../config/option-reader.js';
import { resolveOptions } from '../config/option-rules.js';
import { InvalidBatchError } from '../generator/generator-errors.js';
import { readGeneratorOptions } from '../generator/generator-options.js';
import { Waiting, type WaitLimit, type WaitOptions } from '../generator/waiting.js';
import { Layout, type ParsedId, parseId } from '../layout/layout.js';
import { RaindropError } from '../raindrop-error.js';
import { showThrown } from '../show-value.js';
import { Freshness, RingMemory, type RingState } from './ring-memory.js';
import { RingBatch, RingCursor } from './ring-cursor.js';
import { checkHandle, type SharedIdRingHandle } from './ring-handle.js';
import { type RingPorts, sharedIdsOptions, type SharedIdsOptions } from './ring-options.js';

/** After this many IDs an async batch yields to the event loop: under a millisecond, even before the code is compiled. */
const SLICE = 1_024;

/** The IDs that a thread has taken so far, and the ring's state. */
export interface SharedIdsStatus {
  readonly state: RingState;
  /** IDs in the ring, for all threads. */
  readonly left: number;
  /** Handed out by this thread. */
  readonly taken: number;
  /** Claimed by this thread and not handed out: too old, or taken before the ring failed. */
  readonly skipped: number;
  /** Calls that got no ID. */
  readonly rejected: number;
}

/**
 * Takes IDs from a `SharedIdRing` of another thread, without a lock and without a message to that thread. No ID is handed
 * out twice, among all threads. The IDs of one thread come in the order in which they were issued.
 *
 * The calls without `Async` answer at once or throw: `RingEmptyError`, `RingFailedError`, `RingProducerLostError`,
 * `RingClosedError`. The others wait while the error is `retryable`.
 */
export class SharedIds {
  readonly layout: Layout;
  private readonly memory: RingMemory;
  private readonly cursor: RingCursor;
  private readonly capacity: number;
  private readonly waiting: Waiting;
  private readonly rejections: TakeRejections;
  private isListening = false;

  /** @throws ConfigurationError when the handle is none, and naming every option that is wrong */
  constructor(
    handle: SharedIdRingHandle,
    options: SharedIdsOptions | undefined,
    private readonly ports: RingPorts,
  ) {
    const { asyncTimeoutMs, onTakeRejected } = resolveOptions(sharedIdsOptions, options ?? {});
    const { buffer, layout, maxAgeMs, capacity } = checkHandle(handle);
    this.layout = new Layout(layout);
    this.memory = new RingMemory(buffer);
    this.cursor = new RingCursor(this.memory, handle, new Freshness(this.layout, maxAgeMs), ports);
    this.capacity = capacity;
    this.waiting = new Waiting(ports, readGeneratorOptions(new OptionReader({ asyncTimeoutMs }), this.layout.unitMs));
    this.rejections = new TakeRejections(ports, onTakeRejected);
  }

  /** Returns the next ID of this thread. @throws RaindropError when the ring has none to give */
  nextId(): bigint {
    this.demandOne();
    return this.cursor.take();
  }

  /** Returns the next ID as decimal text: the form for JSON. */
  nextString(): string {
    return this.nextId().toString();
  }

  /**
   * Returns `count` IDs, up to the ring's capacity. When there are not enough it throws, and the IDs that it had taken are
   * lost.
   * @throws InvalidBatchError
   */
  nextIds(count: number): bigint[] {
    return Array.from(this.fill(new BigInt64Array(this.checked(count))));
  }

  /** Fills an array of yours and returns it; it is zeroed when there are not enough. */
  fill(target: BigInt64Array): BigInt64Array {
    this.checked(target.length);
    try {
      for (let index = 0; index < target.length; index = this.cursor.takeInto(target, index)) this.demandOne();
    } catch (error) {
      target.fill(0n);
      throw error;
    }
    return target;
  }

  /**
   * Returns the next ID; waits for it without blocking the thread.
   * @throws WaitTimeoutError after `timeoutMs`, with what it waited for as its cause; the signal's reason when aborted
   */
  async nextIdAsync(wait?: WaitOptions): Promise<bigint> {
    const [id] = await this.nextIdsAsync(1, wait);
    return id!;
  }

  /** Returns the next ID as decimal text; waits as {@link nextIdAsync} does. */
  async nextStringAsync(wait?: WaitOptions): Promise<string> {
    return (await this.nextIdAsync(wait)).toString();
  }

  /** Returns `count` IDs; waits for those that are not there yet. When it fails, the IDs that it had taken are lost. */
  async nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]> {
    this.checked(count);
    const limit = this.waiting.limit(wait);
    const batch = new RingBatch();
    while (batch.length < count) {
      await this.takeSome(batch, count, limit);
      if (batch.length < count) await this.waiting.yieldToEventLoop();
    }
    return batch.toArray();
  }

  /** Takes an ID of the ring's layout apart. @throws InvalidIdError; TimestampOverflowError */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /** Tells why no ID could be had at this moment; undefined when one could. Nothing is handed out. */
  refusal(): RaindropError | undefined {
    return this.cursor.refusal();
  }

  /** Tells what this thread has taken, and how the producer is. */
  status(): SharedIdsStatus {
    const { memory } = this;
    const { claimed, skipped, held } = this.cursor;
    const [state, left] = [memory.stateOf(memory.stateVersion), memory.tail - memory.head];
    return { state, left, taken: claimed - skipped - held, skipped, rejected: this.rejections.count };
  }

  /** The cursor may be asked for an ID after it. @throws RaindropError when the ring has none to give */
  private demandOne(): void {
    const refusal = this.cursor.refusal();
    if (refusal !== undefined) throw this.rejections.report(refusal);
  }

  private checked(count: number): number {
    if (Number.isInteger(count) && count >= 1 && count <= this.capacity) return count;
    throw new InvalidBatchError(count, this.capacity);
  }

  /** Takes a slice of the IDs that are there, and waits until there is at least one. */
  private async takeSome(batch: RingBatch, count: number, limit: WaitLimit): Promise<void> {
    const attempt = (): RaindropError | undefined => {
      // Read before the look at the ring: a change after the look differs from this number.
      const { news } = this.memory;
      let refusal = this.cursor.refusal();
      this.cursor.dropStale(batch);
      const { stateVersion } = this.cursor;
      const ids: bigint[] = [];
      const end = Math.min(SLICE, count - batch.length);
      for (; ids.length < end && refusal === undefined; refusal = this.cursor.refusal()) ids.push(this.cursor.take());
      batch.add(ids, stateVersion);
      if (ids.length > 0) return undefined;
      this.listen(news);
      return refusal;
    };
    try {
      await this.waiting.until(limit, attempt);
    } catch (error) {
      throw error instanceof RaindropError ? this.rejections.report(error) : error;
    }
  }

  /** Wakes the waiting calls when the producer has something new. */
  private listen(news: number): void {
    if (this.isListening) return;
    const { memory, ports, waiting } = this;
    const heard = ports.changes.changed(memory.words, memory.newsWord, news);
    this.isListening = heard !== undefined;
    void heard?.then(() => {
      this.isListening = false;
      waiting.wake();
    });
  }
}

/** Counts and reports the calls that get no ID. */
class TakeRejections {
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

  /** Reports one. @returns the error to throw. @throws what the handler throws */
  report(error: RaindropError): RaindropError {
    this.count++;
    if (this.handler === undefined) this.log(error);
    // An async handler rejects later, when the caller could not catch it any more.
    else Promise.resolve(this.handler(error)).catch((reason: unknown) => this.logHandler(reason));
    return error;
  }

  private log({ message }: RaindropError): void {
    this.rejected.write((count) => `${count} takes from the ring were rejected; the last: ${message}`);
  }

  private logHandler(reason: unknown): void {
    this.unhandled.write((count) => `onTakeRejected rejected ${count} times, the last time: ${showThrown(reason)}`);
  }
}

/** One line a second. */
const LOG_EVERY_MS = 1_000;

/** Writes to the log once a second at most, for events of any frequency. */
class ThrottledLog {
  private unlogged = 0;
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly ports: Pick<RingPorts, 'monotonic' | 'warn'>) {}

  /** @param line makes the line for `count` events: this one, and those since the last line */
  write(line: (count: number) => string): void {
    this.unlogged++;
    const now = this.ports.monotonic.now();
    if (now - this.loggedAt < LOG_EVERY_MS) return;
    this.ports.warn(line(this.unlogged));
    this.loggedAt = now;
    this.unlogged = 0;
  }
}
