import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { clientAddress } from './client-address.js';
import { RequestRate } from '../connections/request-rate.js';

/** Their query says how many IDs are asked for. */
const COUNTED = new Set(['/v1/ids', '/v1/ids/stream', '/v1/numbers/:code']);

/**
 * Bounds the requests of an address to everything under /v1 and to what is not there: whoever watches over the service,
 * or loads its page, is never told to wait. Judged by the route that was found and not by the address as it was written,
 * which has many spellings. Without a limit there is no hook.
 *
 * Hooks run in the order in which they were added: this one stands before that for API keys, so that wrong keys count.
 */
export function limitRates(app: NestFastifyApplication): void {
  const rate = app.get(RequestRate);
  if (rate.perMinute === 0) return;
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && !url.startsWith('/v1/')) return done();
    try {
      rate.count(clientAddress(request), COUNTED.has(url ?? '') ? idsIn(request.query as { count?: unknown }) : 1);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

/** What is wrong counts as one: it is refused later. */
function idsIn({ count }: { readonly count?: unknown }): number {
  return typeof count === 'string' && /^\d{1,9}$/.test(count) ? Number(count) : 1;
}
