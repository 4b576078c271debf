import { setImmediate as turn } from 'node:timers/promises';
import { SegmentStoreUnavailableError } from '../../../libs/core/src/segment/segment-errors.js';
import type {
  ReservedSegment,
  Segment,
  SegmentRequest,
  SegmentSource,
} from '../../../libs/core/src/segment/segment-store.js';

/** The database's side: one row that several processes reserve from. */
export class SharedRow implements SegmentSource {
  reservations = 0;
  isDown = false;

  constructor(
    public maxId = 0n,
    readonly step = 1_000,
  ) {}

  async reserve({ count = this.step, above }: SegmentRequest): Promise<ReservedSegment> {
    await turn();
    if (this.isDown) throw new SegmentStoreUnavailableError('reserving', new Error('no database'));
    this.reservations++;
    const from = above > this.maxId ? above : this.maxId;
    this.maxId = from + BigInt(count);
    return { first: from + 1n, last: this.maxId, step: this.step };
  }

  giveBack({ first, last }: Segment): Promise<boolean> {
    const isLast = this.maxId === last;
    if (isLast) this.maxId = first - 1n;
    return Promise.resolve(isLast);
  }
}
