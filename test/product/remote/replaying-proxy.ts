import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A cache that should not be there: it answers `POST` as it did before, whatever it is told about storing. */
export class ReplayingProxy {
  isReplaying = false;
  /** Puts the present request into the stored answer, as if the client did not check it. */
  isForging = false;
  replayed = 0;
  private readonly stored = new Map<string, Stored>();
  private readonly server: Server;

  private constructor(private readonly to: string) {
    this.server = createServer((request, response) => {
      void this.answer(request.url!, request.headers['raindrop-request'] as string).then(
        ({ status, headers, body }) => {
          response.writeHead(status, Object.fromEntries(headers)).end(body);
        },
      );
    });
  }

  static async before(to: string): Promise<ReplayingProxy> {
    const proxy = new ReplayingProxy(to);
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }

  private async answer(path: string, request: string): Promise<Stored> {
    const stored = this.isReplaying ? this.stored.get(path) : undefined;
    if (stored !== undefined) {
      this.replayed++;
      if (this.isForging) stored.headers.set('raindrop-request', request);
      return stored;
    }
    const answer = await fetch(this.to + path, { method: 'POST', headers: { 'raindrop-request': request } });
    const headers = new Headers(answer.headers);
    for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'content-length']) headers.delete(name);
    const fresh = { status: answer.status, headers, body: await answer.text() };
    this.stored.set(path, fresh);
    return fresh;
  }
}
