import rateLimit from '@fastify/rate-limit';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { ProblemException } from './problem.exception.js';

/**
 * At most so many requests a minute from one address (IPv6: from one network of 64 bits) to everything under /v1 and to
 * what is not there: whoever watches over the service, or loads its page, is never told to wait. Judged by the route
 * that was found and not by the address as it was written, which has many spellings. Without a limit there is no hook.
 *
 * Hooks run in the order in which they were added: this one stands before that for API keys, so that wrong keys count.
 */
export async function limitRates(adapter: FastifyAdapter, perMinute: number): Promise<void> {
  if (perMinute === 0) return;
  const server = adapter.getInstance();
  await server.register(rateLimit, {
    global: false,
    max: perMinute,
    timeWindow: 60_000,
    allowList: ({ routeOptions: { url } }) => url !== undefined && !url.startsWith('/v1/'),
    errorResponseBuilder: (_request, { ttl }) => {
      const retryAfterSeconds = Math.ceil(ttl / 1_000);
      const detail = `More than ${perMinute} requests a minute. Try again in ${retryAfterSeconds} s.`;
      return new ProblemException(429, { errorCode: 'RATE_LIMITED', detail, retryable: true, retryAfterSeconds });
    },
  });
  server.addHook('onRequest', server.rateLimit());
}
