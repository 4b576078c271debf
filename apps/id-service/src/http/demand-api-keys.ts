import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiKeys } from './api-keys.js';

/** POST, but it only calculates. */
const CHANGES_NOTHING = new Set(['/v1/layouts/plan', '/v1/layouts/advice']);

/**
 * With `API_KEYS_FOR=all` asks every call that changes something for its key. A hook and no guard, because some answers
 * never reach Nest's routes; and none at all otherwise, because it would cost every request a little.
 */
export function demandApiKeys(app: NestFastifyApplication): void {
  const keys = app.get(ApiKeys);
  if (!keys.areForAll) return;
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? '';
    const changes = request.method === 'POST' && route.startsWith('/v1/') && !CHANGES_NOTHING.has(route);
    if (!changes) return done();
    try {
      keys.demand(request.headers);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}
