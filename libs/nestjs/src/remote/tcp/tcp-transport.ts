import { isNativeError } from 'node:util/types';
import type { ClientTCP } from '@nestjs/microservices';
import { readRefusal, type RemoteAnswer, type RemoteTransport } from '@raindrop/node/internal';
import { TcpLink } from './tcp-link.js';

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
