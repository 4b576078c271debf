import { showThrown } from '../show-value.js';
import type { RaindropError } from '../raindrop-error.js';
import type { RingPorts } from './ring-ports.js';
import { ThrottledLog } from './throttled-log.js';

/** What becomes of calls that get no ID. */
export class TakeRejections {
  count = 0;
  private readonly rejected: ThrottledLog;
  private readonly unhandled: ThrottledLog;

  /** @param handler in place of the log */
  constructor(
    ports: Pick<RingPorts, 'monotonic' | 'warn'>,
    private readonly handler: ((error: RaindropError) => unknown) | undefined,
  ) {
    this.rejected = new ThrottledLog(ports);
    this.unhandled = new ThrottledLog(ports);
  }

  /** Tells of one. @returns what is to be thrown. @throws what the handler throws */
  tell(error: RaindropError): RaindropError {
    this.count++;
    if (this.handler === undefined) this.log(error);
    // An async one rejects later, when nobody could catch it.
    else Promise.resolve(this.handler(error)).catch((reason: unknown) => this.logHandler(reason));
    return error;
  }

  private log({ message }: RaindropError): void {
    this.rejected.tell((count) => `${count} takes from the ring were rejected, the last one: ${message}`);
  }

  private logHandler(reason: unknown): void {
    this.unhandled.tell((count) => `onTakeRejected rejected ${count} times, the last time: ${showThrown(reason)}`);
  }
}
