import { isNativeError } from 'node:util/types';
import type { ClientTCP } from '@nestjs/microservices';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { readRefusal, type RemoteAnswer, type RemoteTransport } from '@raindrop/node/internal';

/** The patterns of the service. */
const NEXT = 'ids.next';
const LAYOUT = 'ids.layout';

/** What Nest answers to a pattern that the service does not have. */
const NO_SUCH_PATTERN = /no matching message handler/i;

/** A connection, and the layout of the process behind it, which does not change. */
interface KnownLink {
  readonly link: TcpLink;
  layout: unknown;
}

/** An ID service as a Nest microservice over TCP. One connection serves all codes, and is made anew when it was lost. */
export class TcpTransport implements RemoteTransport {
  private current: KnownLink | undefined;
  private isClosed = false;
  readonly #apiKey: string | undefined;

  /** @param makeClient a client for each connection */
  constructor(
    readonly name: string,
    private readonly makeClient: () => ClientTCP,
    apiKey: string | undefined,
  ) {
    this.#apiKey = apiKey;
  }

  async take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    const apiKey = this.#apiKey;
    const data = { count, ...(code !== undefined && { code }), ...(apiKey !== undefined && { apiKey }) };
    try {
      const known = this.connection();
      known.layout ??= await known.link.request(LAYOUT, {}, signal);
      const answer = await known.link.request(NEXT, data, signal);
      return { ids: (answer as { readonly ids?: unknown } | null)?.ids, layout: known.layout };
    } catch (error) {
      if (!isNativeError(error)) throw this.refusal(error);
      throw new Error(String((error as NodeJS.ErrnoException).code ?? error.message));
    }
  }

  close(): void {
    this.isClosed = true;
    this.current?.link.close();
  }

  private connection(): KnownLink {
    if (this.isClosed) throw new Error('this client is closed');
    if (this.current?.link.isLost !== false) {
      this.current = { link: new TcpLink(this.makeClient()), layout: undefined };
    }
    return this.current;
  }

  private refusal(given: unknown): Error {
    const status = typeof given === 'string' && NO_SUCH_PATTERN.test(given) ? 404 : undefined;
    const question = `${LAYOUT} and ${NEXT}`;
    return readRefusal(given, { source: this.name, question, status, secret: this.#apiKey });
  }
}

/**
 * One connection of Nest's TCP transport, to one process of the service. It is never made anew, and keeps the process alive
 * only while a request is under way.
 *
 * Nest numbers every message at random and answers by that number: no answer is taken for another's.
 */
class TcpLink {
  private readonly socket: Socket;
  private readonly ready: Promise<void>;
  /** Requests under way. */
  private pending = 0;
  /** How often something came. */
  private heard = 0;

  /** @param client never used before, and by nobody else */
  constructor(private readonly client: ClientTCP) {
    client.connect().catch(() => undefined);
    const socket = client.unwrap<Socket>();
    this.socket = socket;
    socket.on('data', () => this.heard++);
    // What cannot be understood is no reason to stay connected.
    socket.on('error', () => socket.destroy());
    // A certificate is looked at first: before that the other end may be anybody, and gets no key.
    const event = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
    this.ready = new Promise((resolve, reject) => {
      socket.once(event, resolve);
      socket.once('error', (error: unknown) => reject(isNativeError(error) ? error : new Error(String(error))));
      socket.once('close', () => reject(new Error('the connection was closed')));
    });
    this.ready.catch(() => undefined);
  }

  /** It was closed, or could not be opened. */
  get isLost(): boolean {
    return this.socket.destroyed;
  }

  /**
   * Asks once. A request that is given up does not disturb the others, unless nothing at all came since it was made: then
   * the connection is taken to be dead.
   * @throws what the service says when it refuses, as it came; Error when the connection fails
   */
  async request(pattern: string, data: object, signal: AbortSignal): Promise<unknown> {
    const { heard } = this;
    if (this.pending++ === 0) this.socket.ref();
    let giveUp!: () => void;
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = () => reject(new Error('no answer in time'));
    });
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    const exchange = this.exchange(pattern, data, signal);
    try {
      return await Promise.race([exchange.answer, givenUp]);
    } finally {
      exchange.forget();
      signal.removeEventListener('abort', giveUp);
      if (signal.aborted && heard === this.heard) this.socket.destroy();
      if (--this.pending === 0) this.socket.unref();
    }
  }

  /** Ends it, and the requests under way with it. */
  close(): void {
    this.socket.destroy();
    this.client.close();
  }

  private exchange(
    pattern: string,
    data: object,
    signal: AbortSignal,
  ): { answer: Promise<unknown>; forget: () => void } {
    let forget = (): void => {};
    const ask = (resolve: (answer: unknown) => void, reject: (reason: unknown) => void): void => {
      if (signal.aborted) return;
      // The client would connect again by itself, perhaps to another process.
      if (this.isLost) return reject(new Error('the connection was lost'));
      const complete = (): void => reject(new Error('an answer without a word'));
      const asked = this.client.send<unknown>(pattern, data).subscribe({ next: resolve, error: reject, complete });
      forget = () => asked.unsubscribe();
    };
    const answer = this.ready.then(() => new Promise<unknown>(ask));
    return { answer, forget: () => forget() };
  }
}
