import { ProblemException } from '../problems/problem.exception.js';
import { networkOf } from './network-of.js';

const WINDOW_MS = 60_000;

/** So many IDs are made as quickly as a request is answered. */
const IDS_FOR_A_REQUEST = 1_000;

/** More than that many addresses are not counted apart: the minute begins anew. */
const MOST_ADDRESSES = 100_000;

/**
 * At most so many requests a minute from one address (IPv6: from one network of 64 bits), over all transports; each
 * begun 1,000 IDs count as one. The count begins anew with each minute.
 */
export class RequestRate {
  private readonly counts = new Map<string, number>();
  private endsAt = 0;

  /** @param perMinute 0: any number */
  constructor(readonly perMinute: number) {}

  /**
   * @param ids how many IDs are asked for
   * @throws ProblemException 429 when there were too many, 400 for more IDs than a minute has
   */
  count(address: string, ids = 1): void {
    if (this.perMinute === 0) return;
    const requests = Math.max(1, Math.ceil(ids / IDS_FOR_A_REQUEST));
    if (requests > this.perMinute) throw this.tooLarge();
    const now = performance.now();
    if (now >= this.endsAt || this.counts.size >= MOST_ADDRESSES) {
      this.counts.clear();
      this.endsAt = now + WINDOW_MS;
    }
    const network = networkOf(address);
    const count = (this.counts.get(network) ?? 0) + requests;
    this.counts.set(network, count);
    if (count > this.perMinute) throw this.tooMany(Math.ceil((this.endsAt - now) / 1_000));
  }

  private tooMany(retryAfterSeconds: number): ProblemException {
    const what = `${this.perMinute} requests a minute`;
    const detail = `More than ${what}; each begun 1000 IDs count as one. Try again in ${retryAfterSeconds} s.`;
    return new ProblemException(429, { errorCode: 'RATE_LIMITED', detail, retryable: true, retryAfterSeconds });
  }

  private tooLarge(): ProblemException {
    const most = this.perMinute * IDS_FOR_A_REQUEST;
    const detail = `count must be at most ${most}: an address has ${this.perMinute} requests a minute, and each begun 1000 IDs count as one`;
    return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail });
  }
}
