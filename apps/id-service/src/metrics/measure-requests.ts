import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ServiceMetrics } from './service-metrics.js';

/** Every other one would be a series that a client makes up. */
const METHODS: readonly string[] = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Has every answer's duration recorded, to its last byte; by route, never by the address that was asked for. */
export function measureRequests(app: NestFastifyApplication): void {
  const { requestDurations } = app.get(ServiceMetrics);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onResponse', (request, reply, done) => {
    const method = METHODS.includes(request.method) ? request.method : '_OTHER';
    const route = request.is404 ? '' : nameOf(request.routeOptions.url ?? '');
    requestDurations.labels(method, route, String(reply.statusCode)).observe(reply.elapsedTime / 1_000);
    done();
  });
}

/** The files of the page and of the API's description are one. */
function nameOf(url: string): string {
  return /^\/(v1\/|health|metrics)/.test(url) ? url : '/*';
}
