import type { Server } from 'node:net';
import { Logger } from '@nestjs/common';
import { ServerTCP, type MessageHandler, type TcpContext, type TcpSocket } from '@nestjs/microservices';
import type { Observable } from 'rxjs';
import { LogRepeats } from '../problems/log-repeats.js';
import { ProblemException } from '../problems/problem.exception.js';
import type { TcpDoor } from './tcp-door.js';
import type { TcpProblemFilter } from './tcp-problem.filter.js';

const LONGEST_REASON = 200;

/** Nest's server with a door: it answers what is under way before it closes, and its log is its own. */
export class IdsTcpServer extends ServerTCP {
  private readonly log = new Logger('Demo');
  private readonly repeats = new LogRepeats();

  constructor(
    options: ConstructorParameters<typeof ServerTCP>[0],
    private readonly door: TcpDoor,
    private readonly problems: TcpProblemFilter,
  ) {
    super(options);
    door.watch(this.unwrap<Server>());
  }

  // eslint-disable-next-line @typescript-eslint/no-misused-promises -- Nest waits for what it returns
  override async close(): Promise<void> {
    await this.door.end();
    super.close();
  }

  override handleMessage(socket: TcpSocket, message: unknown): Promise<void> {
    this.door.hear(socket.netSocket);
    return super.handleMessage(socket, message);
  }

  /** What there is no pattern for is counted and refused like everything else. */
  override getHandlerByPattern(pattern: string): MessageHandler | null {
    return super.getHandlerByPattern(pattern) ?? ((_, context: TcpContext) => this.refuse(pattern, context));
  }

  /** What somebody else sends neither fills the log nor writes lines of its own into it. */
  override handleError(error: unknown): void {
    const unsaid = this.repeats.admit('failed');
    if (unsaid === undefined) return;
    const more = unsaid === 0 ? '' : ` (${unsaid} more before)`;
    const reason = error instanceof Error ? error.message : String(error);
    const words = reason.slice(0, LONGEST_REASON).replace(/[^ -~]+/g, ' ');
    this.log.warn(`A TCP connection failed${more}: ${words}`);
  }

  /** Messages without a number get no answer: nothing is done for them. */
  override handleEvent(): Promise<void> {
    return Promise.resolve();
  }

  private async refuse(pattern: string, context: TcpContext): Promise<Observable<never>> {
    const legal = [...this.messageHandlers.keys()].join(', ');
    const detail = `There is no pattern ${pattern.slice(0, LONGEST_REASON)}; legal: ${legal}`;
    const unknown = new ProblemException(404, { errorCode: 'NOT_FOUND', detail });
    const { netSocket } = context.getSocketRef();
    return this.door.during(netSocket, 1, () => Promise.reject(unknown)).catch((error) => this.problems.catch(error));
  }
}
