import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { ApiKeys } from './api-keys.js';
import { clientAddress } from './client-address.js';
import { RequestRate } from '../connections/request-rate.js';

/** Their query says how many IDs are asked for. */
const COUNTED = new Set(['/v1/ids', '/v1/ids/stream', '/v1/numbers/:code']);

/** What the page asks every second, and every second costs nothing: no database, no ID, the same few lines. */
const FREE = '/v1/status';

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
  const keys = app.get(ApiKeys);
  /** Read twice a second at most, whoever asks. A wrong key is counted. */
  const isShownWorkers = (url: string, { headers }: FastifyRequest): boolean =>
    url === '/v1/workers' && keys.mayShow(headers);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && (!url.startsWith('/v1/') || url === FREE || isShownWorkers(url, request))) return done();
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
