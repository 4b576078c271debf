import { ProblemException } from '../http/problem.exception.js';

const WINDOW_MS = 60_000;

/** At most so many messages a minute from one address; the count begins anew with each minute. */
export class MessageRate {
  private readonly counts = new Map<string, number>();
  private endsAt = 0;

  /** @param perMinute 0: any number */
  constructor(private readonly perMinute: number) {}

  /** @throws ProblemException 429 when there were too many */
  count(address: string): void {
    if (this.perMinute === 0) return;
    const now = performance.now();
    if (now >= this.endsAt) {
      this.counts.clear();
      this.endsAt = now + WINDOW_MS;
    }
    const count = (this.counts.get(address) ?? 0) + 1;
    this.counts.set(address, count);
    if (count <= this.perMinute) return;
    const retryAfterSeconds = Math.ceil((this.endsAt - now) / 1_000);
    const detail = `More than ${this.perMinute} messages a minute. Try again in ${retryAfterSeconds} s.`;
    throw new ProblemException(429, { errorCode: 'RATE_LIMITED', detail, retryable: true, retryAfterSeconds });
  }
}
