import { Injectable } from '@nestjs/common';
import { ProblemException } from '../problems/problem.js';

/** With their texts and the answer some 100 bytes each: a process has 512 MiB. */
const MOST = 1_000_000;

/** Bounds the batches that are made or waited for at a time, over all transports: an outage lets them pile up. */
@Injectable()
export class IdsUnderWay {
  private count = 0;

  /**
   * Makes a batch unless too many are under way.
   * @throws ProblemException 429; what the work throws
   */
  async during<Batch>(count: number, work: () => Promise<Batch>): Promise<Batch> {
    if (this.count + count > MOST) throw tooMany();
    this.count += count;
    try {
      return await work();
    } finally {
      this.count -= count;
    }
  }
}

function tooMany(): ProblemException {
  const detail = `More than ${MOST} IDs are under way. Request fewer, or try again in a moment.`;
  return new ProblemException(429, { errorCode: 'TOO_MANY_IDS', detail, retryable: true, retryAfterSeconds: 1 });
}
