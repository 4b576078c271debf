import type { Socket } from 'node:net';
import { isNativeError } from 'node:util/types';
import type { ClientTCP } from '@nestjs/microservices';
import { readRefusal } from '../read-refusal.js';
import type { RemoteAnswer, RemoteTransport } from '../remote-transport.js';

/** The patterns of the service. */
const NEXT = 'ids.next';
const LAYOUT = 'ids.layout';

/** A connection of now. */
interface Link {
  readonly socket: Socket;
  /** Requests under way. */
  pending: number;
  /** Behind one connection is one process, whose layout does not change. */
  layout: unknown;
}

/**
 * An ID service as a Nest microservice over TCP. One connection serves all codes. It is made anew when it was lost or a
 * request got no answer, and keeps the process alive only while a request is under way.
 *
 * Nest numbers every message at random and answers by that number: no answer is taken for another's.
 */
export class TcpTransport implements RemoteTransport {
  private link: Link | undefined;
  readonly #apiKey: string | undefined;

  /** @param client never used before, and by nobody else */
  constructor(
    readonly name: string,
    private readonly client: ClientTCP,
    apiKey: string | undefined,
  ) {
    this.#apiKey = apiKey;
  }

  async take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    const connected = this.client.connect();
    const link = this.linkTo(this.client.unwrap<Socket>());
    if (link.pending++ === 0) link.socket.ref();
    try {
      return await Promise.race([this.exchange(connected, link, count, code), hungUp(link, signal)]);
    } catch (error) {
      if (!isNativeError(error)) throw readRefusal(error, { source: this.name, secret: this.#apiKey });
      throw new Error(String((error as NodeJS.ErrnoException).code ?? error.message));
    } finally {
      if (--link.pending === 0) link.socket.unref();
    }
  }

  close(): void {
    this.link?.socket.destroy();
    this.client.close();
  }

  private async exchange(
    connected: Promise<unknown>,
    link: Link,
    count: number,
    code: string | undefined,
  ): Promise<RemoteAnswer> {
    await connected;
    link.layout ??= await this.ask(link, LAYOUT, {});
    const apiKey = this.#apiKey;
    const answer = await this.ask(link, NEXT, {
      count,
      ...(code !== undefined && { code }),
      ...(apiKey !== undefined && { apiKey }),
    });
    return { ids: (answer as { readonly ids?: unknown } | null)?.ids, layout: link.layout };
  }

  /** @throws what the service says when it refuses, as it came; Error when the connection fails */
  private async ask(link: Link, pattern: string, data: object): Promise<unknown> {
    const answer = await new Promise<unknown>((resolve, reject) => {
      const complete = (): void => reject(new Error('an answer without a word'));
      this.client.send<unknown>(pattern, data).subscribe({ next: resolve, error: reject, complete });
    });
    // It connects again by itself, perhaps to another process.
    if (link !== this.link) throw new Error('the connection was lost');
    return answer;
  }

  private linkTo(socket: Socket): Link {
    if (this.link?.socket !== socket) this.link = { socket, pending: 0, layout: undefined };
    return this.link;
  }
}

/** Rejects when the request is given up. What leaves one without an answer is not asked again over the same connection. */
function hungUp({ socket }: Link, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => {
      socket.destroy();
      reject(new Error('no answer in time'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
