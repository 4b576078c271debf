import { showThrown } from '../show-value.js';
import type { PutRejection } from './ring-options.js';

/** What becomes of IDs that were issued for the ring and are not handed out from it. */
export class PutRejections {
  count = 0;

  /** @param handler in place of the log */
  constructor(
    private readonly warn: (message: string) => void,
    private readonly handler: ((rejection: PutRejection) => unknown) | undefined,
  ) {}

  /** What is old is replaced all the time, and what is left when it is closed is lost by intent: neither is logged. */
  tell(reason: PutRejection['reason'], count: number, why = ''): void {
    if (count === 0) return;
    this.count += count;
    try {
      if (this.handler === undefined) {
        if (reason === 'failed') this.warn(`The ring was emptied, ${count} IDs are discarded: ${why}`);
        return;
      }
      const told = this.handler({ reason, count });
      Promise.resolve(told).catch((error: unknown) => this.warn(`onPutRejected rejected: ${showThrown(error)}`));
    } catch (error) {
      this.warn(`onPutRejected threw: ${showThrown(error)}`);
    }
  }
}
