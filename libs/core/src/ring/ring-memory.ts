import type { RaindropError } from '../raindrop-error.js';
import type { Layout } from '../layout/layout.js';
import { RingFailedError } from './ring-errors.js';

/** The state of a ring says whether IDs may be taken. */
export type RingState = 'open' | 'failed' | 'closed';

const STATES: readonly RingState[] = ['open', 'failed', 'closed'];

// Byte offsets. What different threads write lies in cache lines of its own, two apart: they are fetched in pairs.
const STATE = 0;
const HEAD = 128;
const TAIL = 256;
const DEADLINE = 384;
const WALL_DEADLINE = 392;
const DEMAND = 512;
const NEWS = 640;
const TEXTS = 768;
const SLOTS = 2_048;

/** Of each of two texts, in 16-bit units: its length, whether the failure is retryable, and the characters. */
const TEXT_UNITS = (SLOTS - TEXTS) / 4;

/**
 * What producer and takers share.
 *
 * `head` and `tail` count the IDs taken and put since the start. They never wrap, so that a thread that slept cannot take
 * an old head for the present one; the slot of a count is its remainder. Slots in `[head, tail)` hold IDs. The producer
 * alone moves `tail`, after the slots are written; who moves `head` has taken what it passed.
 */
export class RingMemory {
  readonly slots: BigInt64Array;
  readonly words: Int32Array;
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

  /** Whether this can be the memory of a ring. */
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

  /** Where the ID of a count lies. */
  indexOf(count: number): number {
    return count % this.slots.length;
  }

  /** Moves the head from exactly `from`: what lies between belongs to the caller. False when somebody else was faster. */
  moveHead(from: number, to: number): boolean {
    const expected = BigInt(from);
    return Atomics.compareExchange(this.counts, HEAD / 8, expected, BigInt(to)) === expected;
  }

  /** For the producer: what has been written so far may be taken. */
  publish(tail: number): void {
    Atomics.store(this.counts, TAIL / 8, BigInt(tail));
    this.tellNews();
  }

  /** For the producer: nothing that is in the ring is taken any more. */
  clear(): number {
    const tail = Atomics.load(this.counts, TAIL / 8);
    return Number(tail - Atomics.exchange(this.counts, HEAD / 8, tail));
  }

  /** A number that is another one whenever the state was set; the state itself is {@link stateOf} it. */
  get stamp(): number {
    return Atomics.load(this.words, STATE / 4);
  }

  stateOf(stamp: number): RingState {
    return STATES[stamp & 3]!;
  }

  /** For the producer. The failure is written before: who sees the state sees why. */
  setState(state: RingState, failure?: RaindropError): void {
    const turn = (this.stamp >> 2) + 1;
    if (failure !== undefined) this.write(failure, turn);
    Atomics.store(this.words, STATE / 4, turn * 4 + STATES.indexOf(state));
    this.tellNews();
  }

  /** Why the ring of this stamp failed; undefined when its state has changed meanwhile. */
  failureOf(stamp: number): RingFailedError | undefined {
    // The two texts take turns: the one of this stamp is written over after the next state has been set.
    const [length = 0, retryable, ...chars] = this.textOf(stamp >> 2);
    const [code = '', ...message] = String.fromCharCode(...chars.slice(0, length)).split(' ');
    return this.stamp === stamp ? new RingFailedError(code, message.join(' '), retryable === 1) : undefined;
  }

  /** For the producer: takers may go on until then without hearing of it, by either clock. */
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

  /** For takers: asks the producer for more. Only the first one to ask has to wake it. */
  demand(): void {
    if (Atomics.exchange(this.words, DEMAND / 4, 1) === 0) Atomics.notify(this.words, DEMAND / 4);
  }

  get isDemanded(): boolean {
    return Atomics.load(this.words, DEMAND / 4) !== 0;
  }

  /** For the producer, before it fills: from now on, whoever asks wakes it again. */
  forgetDemand(): void {
    Atomics.store(this.words, DEMAND / 4, 0);
  }

  /** The word that takers turn to 1 when they want more. */
  readonly demandWord = DEMAND / 4;

  /** The word that changes whenever there is something new for takers who wait. */
  readonly newsWord = NEWS / 4;

  get news(): number {
    return Atomics.load(this.words, this.newsWord);
  }

  private tellNews(): void {
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

/** Lets a thread hear of a change that another one makes to a shared word, without blocking. */
export interface WordChanges {
  /**
   * Settles when somebody notifies of `words[index]`, at once when it is not `value` any more. It keeps no process
   * alive. Undefined where nothing can be heard: then there are timers only.
   */
  changed(words: Int32Array, index: number, value: number): Promise<unknown> | undefined;
}

/** `Atomics.waitAsync`, which Node and browsers have, and the library of ES2022 does not know yet. */
interface WaitingAtomics {
  waitAsync?(words: Int32Array, index: number, value: number): { readonly value: Promise<string> | string };
}

/** Changes by `Atomics`. */
export const atomicChanges: WordChanges = {
  changed(words, index, value) {
    const heard = (Atomics as WaitingAtomics).waitAsync?.(words, index, value);
    return heard === undefined ? undefined : Promise.resolve(heard.value);
  },
};

/** IDs as two 32-bit halves: where the halves of one lie depends on the machine. */
const LOW_FIRST = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const [LOW, HIGH] = LOW_FIRST ? [0, 1] : [1, 0];

/**
 * Whether the time of an ID is near enough to the present, either way.
 *
 * Compared are floating-point numbers, five times as fast as bigints: what they round off is far below a tick, or a tick
 * at most where there are fewer than 10 bits below the time.
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

  /** Names the present. An ID is as old as the end of its tick: those of the present tick are fresh in any unit. */
  at(wallMs: number): void {
    const { timeline } = this.layout;
    this.oldest = timeline.tickAt(wallMs - this.maxAgeMs) * this.tickSize;
    this.newest = (timeline.tickAt(wallMs + this.maxAgeMs) + 1) * this.tickSize;
  }

  /** As {@link covers}, of the smallest and the largest of some IDs, rounded: whether all of them are fresh. */
  coversRange(least: number, most: number): boolean {
    return least >= this.oldest && most < this.newest;
  }

  /** @param halves IDs as 32-bit halves. @param index of the ID */
  covers(halves: Uint32Array, index: number): boolean {
    const id = halves[2 * index + HIGH]! * 4_294_967_296 + halves[2 * index + LOW]!;
    return id >= this.oldest && id < this.newest;
  }
}
