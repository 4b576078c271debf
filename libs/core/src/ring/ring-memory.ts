import type { RaindropError } from '../raindrop-error.js';
import type { Layout } from '../layout/layout.js';
import { RingFailedError } from './ring-errors.js';

/** The state of a ring says whether IDs may be taken. */
export type RingState = 'open' | 'failed' | 'closed';

const STATES: readonly RingState[] = ['open', 'failed', 'closed'];

// Byte offsets. Words that different threads write are 128 bytes apart: a processor fetches two lines of 64 at once.
const STATE = 0;
const HEAD = 128;
const TAIL = 256;
const DEADLINE = 384;
const WALL_DEADLINE = 392;
const DEMAND = 512;
const NEWS = 640;
const TEXTS = 768;
const SLOTS = 2_048;

/** The 16-bit units of each of two texts: its length, whether the failure is retryable, and the characters. */
const TEXT_UNITS = (SLOTS - TEXTS) / 4;

/**
 * The memory that the producer and the takers share.
 *
 * `head` and `tail` count the IDs taken and put since the start. The ID of count `n` is in slot `n % slots`. Slots of
 * counts in `[head, tail)` hold IDs. Only the producer moves `tail`, after it has written the slots. The thread that moves
 * `head` has taken the IDs that it passed. The counts never wrap: a thread that slept cannot take an old head for the
 * present one.
 */
export class RingMemory {
  readonly slots: BigInt64Array;
  readonly words: Int32Array;
  /** The index of the word that takers set to 1 when they want more. */
  readonly demandWord = DEMAND / 4;
  /** The index of the word that changes with every new ID or state: takers that wait listen to it. */
  readonly newsWord = NEWS / 4;
  private readonly counts: BigInt64Array;
  private readonly texts: Uint16Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer, 0, SLOTS / 4);
    this.counts = new BigInt64Array(buffer, 0, SLOTS / 8);
    this.texts = new Uint16Array(buffer, TEXTS, 2 * TEXT_UNITS);
    this.slots = new BigInt64Array(buffer, SLOTS);
  }

  /** @param slots a power of two */
  static ofSlots(slots: number): RingMemory {
    return new RingMemory(new SharedArrayBuffer(SLOTS + slots * 8));
  }

  /** Tells whether this can be the memory of a ring. */
  static fits(buffer: unknown): buffer is SharedArrayBuffer {
    if (Object.prototype.toString.call(buffer) !== '[object SharedArrayBuffer]') return false;
    const slots = ((buffer as SharedArrayBuffer).byteLength - SLOTS) / 8;
    return slots >= 1 && Number.isInteger(Math.log2(slots));
  }

  get head(): number {
    return Number(Atomics.load(this.counts, HEAD / 8));
  }

  get tail(): number {
    return Number(Atomics.load(this.counts, TAIL / 8));
  }

  /** The slot of a count. */
  indexOf(count: number): number {
    return count % this.slots.length;
  }

  /**
   * Moves the head from exactly `from`: the IDs of `[from, to)` then belong to the caller.
   * @returns false when another thread has moved the head before
   */
  moveHead(from: number, to: number): boolean {
    const expected = BigInt(from);
    return Atomics.compareExchange(this.counts, HEAD / 8, expected, BigInt(to)) === expected;
  }

  /** For the producer: takers may take the IDs up to this count from now on. */
  publish(tail: number): void {
    Atomics.store(this.counts, TAIL / 8, BigInt(tail));
    this.notifyTakers();
  }

  /** For the producer: empties the ring. @returns how many IDs were in it */
  clear(): number {
    const tail = Atomics.load(this.counts, TAIL / 8);
    return Number(tail - Atomics.exchange(this.counts, HEAD / 8, tail));
  }

  /** A number that changes whenever the state is set; {@link stateOf} tells the state. */
  get stateVersion(): number {
    return Atomics.load(this.words, STATE / 4);
  }

  /**
   * Tells whether the state was not set since it had this version. A plain read takes half a nanosecond, one by `Atomics`
   * 7. It sees every change that happened before it. A change of the same moment it may see later: the taker reads
   * {@link stateVersion} as well, with each run that it claims.
   */
  isStill(stateVersion: number): boolean {
    return this.words[STATE / 4] === stateVersion;
  }

  stateOf(stateVersion: number): RingState {
    return STATES[stateVersion & 3]!;
  }

  /** For the producer. The failure is written before the state: a taker that sees the state can read the failure. */
  setState(state: RingState, failure?: RaindropError): void {
    const turn = (this.stateVersion >> 2) + 1;
    if (failure !== undefined) this.write(failure, turn);
    Atomics.store(this.words, STATE / 4, turn * 4 + STATES.indexOf(state));
    this.notifyTakers();
  }

  /** Why the ring failed at this version of its state; undefined when the state has changed since. */
  failureOf(stateVersion: number): RingFailedError | undefined {
    // The two texts take turns: this one is written over only after the next state was set, and then the version differs.
    const [length = 0, retryable, ...chars] = this.textOf(stateVersion >> 2);
    const [code = '', ...message] = String.fromCharCode(...chars.slice(0, length)).split(' ');
    return this.stateVersion === stateVersion
      ? new RingFailedError(code, message.join(' '), retryable === 1)
      : undefined;
  }

  /** For the producer: takers may take until these deadlines, one of each clock. */
  extend(monotonicMs: number, wallMs: number): void {
    Atomics.store(this.counts, DEADLINE / 8, BigInt(Math.floor(monotonicMs)));
    Atomics.store(this.counts, WALL_DEADLINE / 8, BigInt(Math.floor(wallMs)));
  }

  /** How far either clock is past its deadline, ms; 0 or less while takers may go on. */
  lateByMs(monotonicMs: number, wallMs: number): number {
    return Math.max(
      monotonicMs - Number(Atomics.load(this.counts, DEADLINE / 8)),
      wallMs - Number(Atomics.load(this.counts, WALL_DEADLINE / 8)),
    );
  }

  /** For takers: asks the producer for more IDs. Only the first taker that asks wakes it. */
  demand(): void {
    if (Atomics.exchange(this.words, DEMAND / 4, 1) === 0) Atomics.notify(this.words, DEMAND / 4);
  }

  get isDemanded(): boolean {
    return Atomics.load(this.words, DEMAND / 4) !== 0;
  }

  /** For the producer, before it fills: the next taker that asks wakes it again. */
  resetDemand(): void {
    Atomics.store(this.words, DEMAND / 4, 0);
  }

  get news(): number {
    return Atomics.load(this.words, this.newsWord);
  }

  private notifyTakers(): void {
    Atomics.add(this.words, this.newsWord, 1);
    Atomics.notify(this.words, this.newsWord);
  }

  private textOf(turn: number): Uint16Array {
    const from = (turn & 1) * TEXT_UNITS;
    return this.texts.subarray(from, from + TEXT_UNITS);
  }

  private write({ errorCode, message, retryable }: RaindropError, turn: number): void {
    const text = this.textOf(turn);
    const line = `${errorCode} ${message}`.slice(0, TEXT_UNITS - 2);
    text.set([line.length, retryable ? 1 : 0, ...Array.from(line, (_, index) => line.charCodeAt(index))]);
  }
}

/** Lets a thread hear of the changes that other threads make to a shared word, without blocking. */
export interface WordChanges {
  /**
   * Settles when a thread notifies of `words[index]`, and at once when the word is not `value` any more. It keeps no
   * process alive. Undefined where the platform cannot wait without blocking: timers alone go on then.
   */
  changed(words: Int32Array, index: number, value: number): Promise<unknown> | undefined;
}

/** `Atomics.waitAsync`: Node and browsers have it, TypeScript's types of ES2022 do not. */
interface WaitingAtomics {
  waitAsync?(words: Int32Array, index: number, value: number): { readonly value: Promise<string> | string };
}

/** Hears changes by `Atomics.waitAsync`. */
export const atomicChanges: WordChanges = {
  changed(words, index, value) {
    const heard = (Atomics as WaitingAtomics).waitAsync?.(words, index, value);
    return heard === undefined ? undefined : Promise.resolve(heard.value);
  },
};

/** The machine's byte order decides which half of an ID comes first. */
const LOW_FIRST = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const [LOW, HIGH] = LOW_FIRST ? [0, 1] : [1, 0];

/**
 * Tells whether the time of an ID is at most `maxAgeMs` before or after the present.
 *
 * It compares floating-point numbers, five times as fast as bigints. They have 53 bits: the rounding is far less than a
 * tick, or one tick at most where the layout has fewer than 10 bits below the time.
 */
export class Freshness {
  private readonly tickSize: number;
  private oldest = 0;
  private newest = 0;

  constructor(
    private readonly layout: Layout,
    private readonly maxAgeMs: number,
  ) {
    this.tickSize = 2 ** layout.lowBits;
  }

  /** Sets the present. The age of an ID counts from the end of its tick: IDs of the present tick are fresh in any unit. */
  at(wallMs: number): void {
    const { timeline } = this.layout;
    this.oldest = timeline.tickAt(wallMs - this.maxAgeMs) * this.tickSize;
    this.newest = (timeline.tickAt(wallMs + this.maxAgeMs) + 1) * this.tickSize;
  }

  /** As {@link covers}, for all IDs from `least` to `most`, both rounded to numbers. */
  coversRange(least: number, most: number): boolean {
    return least >= this.oldest && most < this.newest;
  }

  /** @param halves IDs as 32-bit halves. @param index the ID's: its halves are at `2 * index` and the next */
  covers(halves: Uint32Array, index: number): boolean {
    const id = halves[2 * index + HIGH]! * 4_294_967_296 + halves[2 * index + LOW]!;
    return id >= this.oldest && id < this.newest;
  }
}
