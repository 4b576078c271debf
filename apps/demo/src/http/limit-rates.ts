import rateLimit from '@fastify/rate-limit';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { ProblemException } from './problem.exception.js';

/**
 * At most so many requests a minute from one address, to everything under /v1: whoever watches over the service is never
 * told to wait. Without a limit there is no hook either.
 */
export async function limitRates(adapter: FastifyAdapter, perMinute: number): Promise<void> {
  if (perMinute === 0) return;
  await adapter.getInstance().register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    allowList: ({ url }) => !url.startsWith('/v1/'),
    errorResponseBuilder: (_request, { ttl }) => {
      const retryAfterSeconds = Math.ceil(ttl / 1_000);
      const detail = `More than ${perMinute} requests a minute. Try again in ${retryAfterSeconds} s.`;
      return new ProblemException(429, { errorCode: 'RATE_LIMITED', detail, retryable: true, retryAfterSeconds });
    },
  });
}
