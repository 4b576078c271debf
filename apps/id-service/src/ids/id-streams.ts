import type { Socket } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { networkOf } from '../connections/client-address.js';
import { Drain } from '../drain.js';
import { LogRepeats } from '../service-log.js';
import { ProblemException } from '../problems/problem.js';
import { planOfLayout } from '../layouts/plan-of-layout.js';
import { connectionClosed } from './gone-signal.js';
import { idLines, type IdLinesRequest } from './id-lines.js';
import { StreamPace } from './stream-pace.js';

const MOST = 16;

/** Of one address (IPv6: of one network of 64 bits), so that no reader who takes his time has all of them. */
const MOST_OF_ONE = 8;

/** Of what a code has; the rest is for batches. */
const SHARE = 0.5;

const RETRY_AFTER_SECONDS = 5;

/** Whose reader has taken nothing for so long makes room, should another want it. */
const UNREAD_MS = 5_000;

/** One stream under way. */
interface Place {
  readonly network: string;
  readonly socket: Socket;
  /** Since when its reader has taken nothing; undefined while it waits for IDs, which is not the reader's fault. */
  unreadSince: number | undefined;
}

/** The streams of IDs of this process: how many there are, and how they share what there is with everybody else. */
@Injectable()
export class IdStreams {
  private readonly logger = new Logger('IdService');
  private readonly repeats = new LogRepeats();
  private readonly pace: StreamPace;
  private readonly places = new Set<Place>();

  constructor(
    private readonly ids: IdService,
    private readonly drain: Drain,
  ) {
    this.pace = new StreamPace((planOfLayout(ids.layout).idsPerSecond * SHARE) / 1_000);
  }

  /**
   * @param socket its end is that of the stream
   * @throws (with the first part) ProblemException 429 when there are too many; what {@link idLines} throws
   */
  async *open(request: IdLinesRequest, address: string, socket: Socket): AsyncGenerator<Buffer> {
    const place = this.enter(networkOf(address), socket);
    const gone = new AbortController();
    const leave = (): void => gone.abort(connectionClosed());
    socket.once('close', leave);
    try {
      if (socket.destroyed) throw connectionClosed();
      const pace = { pace: this.pace, closing: this.drain.signal, gone: gone.signal };
      for await (const lines of idLines(this.ids, request, pace)) {
        place.unreadSince = performance.now();
        yield lines;
        place.unreadSince = undefined;
      }
    } finally {
      socket.off('close', leave);
      this.places.delete(place);
    }
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
      this.logger.warn(`A stream that nobody read for ${UNREAD_MS / 1_000} s was cut off for another${more}.`);
    }
    this.places.delete(longest);
    longest.socket.destroy();
    return true;
  }
}

function tooMany(what: string): ProblemException {
  const detail = `More than ${what} are under way. Wait for one to end, or ask for batches.`;
  const told = { errorCode: 'TOO_MANY_STREAMS', detail, retryable: true, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new ProblemException(429, told);
}
