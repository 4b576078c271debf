import type { Server } from 'node:net';
import { Logger } from '@nestjs/common';
import { ServerTCP } from '@nestjs/microservices';
import type { TcpDoor } from './tcp-door.js';

const LONGEST_REASON = 200;

/** Nest's server with a door: it answers what is under way before it closes, and its log is its own. */
export class IdsTcpServer extends ServerTCP {
  private readonly log = new Logger('Demo');

  constructor(
    options: ConstructorParameters<typeof ServerTCP>[0],
    private readonly door: TcpDoor,
  ) {
    super(options);
    door.watch(this.unwrap<Server>());
  }

  // eslint-disable-next-line @typescript-eslint/no-misused-promises -- Nest waits for what it returns
  override async close(): Promise<void> {
    await this.door.end();
    super.close();
  }

  /** What somebody else sends neither fills the log nor writes lines of its own into it. */
  override handleError(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.log.warn(`A TCP connection failed: ${reason.slice(0, LONGEST_REASON).replace(/[^ -~]+/g, ' ')}`);
  }

  /** Messages without a number get no answer: nothing is done for them. */
  override handleEvent(): Promise<void> {
    return Promise.resolve();
  }
}
