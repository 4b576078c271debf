import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { IdService, RaindropError, type CodecName } from '@raindrop/nestjs';
import { networkOf } from '../http/client-address.js';
import { Drain } from '../drain.js';
import { planOfLayout } from '../layouts/layouts.js';
import { LogRepeats } from '../service-log.js';
import { occurrenceOf, ProblemException } from '../problems/problem.js';
import { SERVICE_CONFIG, type ServiceConfig } from '../service-config.js';
import { connectionClosed } from '../problems/gone-signal.js';
import { idLines } from './id-texts.js';

const MOST = 16;

/** For each address (IPv6: each 64-bit network), so that one slow reader cannot hold all of them. */
const MOST_OF_ONE = 8;

/** The streams' share of a code; the rest is for batches. */
const SHARE = 0.5;

const RETRY_AFTER_SECONDS = 5;

/** A stream whose reader has taken nothing for so long makes room for another. */
const UNREAD_MS = 5_000;

/** How many IDs are made and written at once: some 30 µs in decimal, less than 1 ms in every other format. */
const SLICE = 500;

/** How long a slice waits for its IDs. */
const TIMEOUT_MS = 5_000;

/** How much may wait for the reader, besides the system's buffer of its connection. */
const AT_HAND_BYTES = 65_536;

export interface IdsRequest {
  readonly count: number;
  readonly code?: string | undefined;
  readonly format: CodecName;
}

/** One stream under way. */
interface Place {
  readonly network: string;
  readonly socket: Socket;
  /** Since when its reader has taken nothing; undefined while it waits for IDs, which is not the reader's fault. */
  unreadSince: number | undefined;
}

/** The streams of IDs of this process: how many there are, and how they share what there is with the other requests. */
@Injectable()
export class IdStreams {
  private readonly logger = new Logger('IdService');
  private readonly repeats = new LogRepeats();
  private readonly pace: StreamPace;
  private readonly places = new Set<Place>();

  constructor(
    private readonly ids: IdService,
    private readonly drain: Drain,
    @Inject(SERVICE_CONFIG) private readonly config: Pick<ServiceConfig, 'docsUrl'>,
  ) {
    this.pace = new StreamPace((planOfLayout(ids.layout).idsPerSecond * SHARE) / 1_000);
  }

  /** {@link lines} as a stream. It fails when the first ones cannot be made; a later failure becomes its last line. */
  open(request: IdsRequest, address: string, socket: Socket): Readable {
    const lines = this.lines(request, address, socket);
    const lastLine = (error: unknown): string => this.lastLine(error);
    async function* all(): AsyncGenerator<Buffer | string> {
      let hasBegun = false;
      try {
        for await (const slice of lines) {
          hasBegun = true;
          yield slice;
        }
      } catch (error) {
        if (!hasBegun) throw error;
        yield lastLine(error);
      }
    }
    return Readable.from(all(), { objectMode: false, highWaterMark: AT_HAND_BYTES });
  }

  /**
   * IDs as lines of JSON, a slice at a time: the next one is made when it is asked for, and when its turn has come, so
   * that neither a slow reader fills the memory nor a quick one keeps the others waiting.
   *
   * @param socket its end is that of the stream
   * @throws (with the first slice) ProblemException 429 when there are too many streams; (with any) what the service
   * throws, and the problem that ended it
   */
  async *lines({ count, code, format }: IdsRequest, address: string, socket: Socket): AsyncGenerator<Buffer> {
    const place = this.enter(networkOf(address), socket);
    const gone = new AbortController();
    const leave = (): void => gone.abort(connectionClosed());
    socket.once('close', leave);
    try {
      if (socket.destroyed) throw connectionClosed();
      const cells = new BigInt64Array(Math.min(SLICE, count));
      for (let left = count; left > 0; left -= SLICE) {
        const size = Math.min(SLICE, left);
        await this.pace.next(code, size);
        if (this.drain.signal.aborted) throw shuttingDown();
        gone.signal.throwIfAborted();
        const wait = { timeoutMs: TIMEOUT_MS, signal: gone.signal };
        const lines = idLines(await this.ids.fillAsync(cells.subarray(0, size), code, wait), format);
        place.unreadSince = performance.now();
        yield lines;
        place.unreadSince = undefined;
      }
    } finally {
      socket.off('close', leave);
      this.places.delete(place);
    }
  }

  /** The status has been sent: the rest of what there is to say goes into the last line. */
  private lastLine(error: unknown): string {
    const isEnding = this.drain.signal.aborted;
    const problem = occurrenceOf(isEnding ? shuttingDown() : error, this.config.docsUrl);
    if (problem.status >= 500 && !(error instanceof RaindropError) && !isEnding) {
      this.logger.error(`A stream failed, ${problem.instance}:`, error);
    }
    return `${JSON.stringify({ error: problem })}\n`;
  }

  private enter(network: string, socket: Socket): Place {
    const ofOne = [...this.places].filter((place) => place.network === network);
    if (ofOne.length >= MOST_OF_ONE && !this.makeRoom(ofOne)) throw tooMany(`${MOST_OF_ONE} streams to one address`);
    if (this.places.size >= MOST && !this.makeRoom([...this.places])) throw tooMany(`${MOST} streams`);
    const place: Place = { network, socket, unreadSince: undefined };
    this.places.add(place);
    return place;
  }

  /** Cuts off the one of these that has been unread for longest, if that is long enough. */
  private makeRoom(places: readonly Place[]): boolean {
    const since = ({ unreadSince = Infinity }: Place): number => unreadSince;
    const [longest] = [...places].sort((a, b) => since(a) - since(b));
    if (longest === undefined || performance.now() - since(longest) < UNREAD_MS) return false;
    const unsaid = this.repeats.admit('unread');
    if (unsaid !== undefined) {
      const more = unsaid === 0 ? '' : ` (${unsaid} more before)`;
      this.logger.warn(`A stream unread for ${UNREAD_MS / 1_000} s was closed for a new one${more}.`);
    }
    this.places.delete(longest);
    longest.socket.destroy();
    return true;
  }
}

/** A timer that came late is made up for, but no more than this: what was not taken in time is for others by then. */
const MAKE_UP_MS = 20;

/** Keeps streams from taking everything: the other users of a code, and of the event loop, get theirs. */
export class StreamPace {
  /** Until when each code has been taken in advance. */
  private readonly takenUntil = new Map<string | undefined, number>();
  private turn: Promise<void> = Promise.resolve();

  /** @param idsPerMs what all streams of a code may take together */
  constructor(
    private readonly idsPerMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Settles when a stream may make so many IDs: then is their share due, and no other stream is served in this turn. */
  async next(code: string | undefined, count: number): Promise<void> {
    const waitMs = this.take(code, count);
    if (waitMs > 0) await sleep(waitMs);
    this.turn = this.turn.then(() => setImmediate());
    await this.turn;
  }

  /** Takes so many in advance. @returns in how many ms they are due */
  take(code: string | undefined, count: number): number {
    const now = this.now();
    for (const [each, until] of this.takenUntil) if (until < now - MAKE_UP_MS) this.takenUntil.delete(each);
    const due = Math.max(this.takenUntil.get(code) ?? now, now - MAKE_UP_MS);
    this.takenUntil.set(code, due + count / this.idsPerMs);
    return Math.max(0, due - now);
  }
}

function tooMany(what: string): ProblemException {
  const detail = `More than ${what} are under way. Wait for one to end, or request batches.`;
  const told = { errorCode: 'TOO_MANY_STREAMS', detail, retryable: true, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new ProblemException(429, told);
}

function shuttingDown(): ProblemException {
  const detail = 'The service is shutting down. Request the rest again.';
  return new ProblemException(503, { errorCode: 'SHUTTING_DOWN', detail, retryable: true });
}
