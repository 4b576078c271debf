import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { onResponseHookHandler } from 'fastify';
import type { Recorder } from './request-durations.js';
import { ServiceMetrics } from './service-metrics.js';

/**
 * Has every answer's duration recorded, to its last byte; by route, never by the address that was asked for. To be
 * called before there are routes: each is given its recorder, so that no request has to look for it.
 */
export function measureRequests(app: NestFastifyApplication): void {
  const { requests } = app.get(ServiceMetrics);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRoute', (route) => {
    route.onResponse = [...[route.onResponse ?? []].flat(), hookOf(requests.recorderOf(nameOf(route.url)))];
  });
  const ofNoRoute = hookOf(requests.recorderOf(''));
  server.addHook('onResponse', (request, reply, done) => {
    if (request.is404) ofNoRoute.call(server, request, reply, done);
    else done();
  });
}

function hookOf(record: Recorder): onResponseHookHandler {
  return (request, reply, done) => {
    record(request.method, reply.statusCode, reply.elapsedTime / 1_000);
    done();
  };
}

/** The files of the page and of the API's description are one. */
function nameOf(url: string): string {
  return /^\/(v1\/|health|metrics)/.test(url) ? url : '/*';
}
