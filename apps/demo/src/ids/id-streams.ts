import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { networkOf } from '../connections/network-of.js';
import { Drain } from '../drain.js';
import { ProblemException } from '../problems/problem.exception.js';
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

/** The streams of IDs of this process: how many there are, and how they share what there is with everybody else. */
@Injectable()
export class IdStreams {
  private readonly pace: StreamPace;
  private readonly counts = new Map<string, number>();
  private count = 0;

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
    const network = networkOf(address);
    this.enter(network);
    const gone = new AbortController();
    const leave = (): void => gone.abort(connectionClosed());
    socket.once('close', leave);
    try {
      if (socket.destroyed) throw connectionClosed();
      yield* idLines(this.ids, request, { pace: this.pace, closing: this.drain.signal, gone: gone.signal });
    } finally {
      socket.off('close', leave);
      this.leave(network);
    }
  }

  private enter(network: string): void {
    const ofOne = this.counts.get(network) ?? 0;
    if (ofOne >= MOST_OF_ONE) throw tooMany(`${MOST_OF_ONE} streams to one address`);
    if (this.count >= MOST) throw tooMany(`${MOST} streams`);
    this.counts.set(network, ofOne + 1);
    this.count++;
  }

  private leave(network: string): void {
    const left = this.counts.get(network)! - 1;
    if (left === 0) this.counts.delete(network);
    else this.counts.set(network, left);
    this.count--;
  }
}

function tooMany(what: string): ProblemException {
  const detail = `More than ${what} are under way. Wait for one to end, or ask for batches.`;
  const told = { errorCode: 'TOO_MANY_STREAMS', detail, retryable: true, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new ProblemException(429, told);
}
