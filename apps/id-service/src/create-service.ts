import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdService } from '@raindrop/nestjs';
import { remoteIdsHeaders } from '@raindrop/node/remote';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { boundReaders } from './connections/bound-connections.js';
import { limitRates } from './connections/request-rate.js';
import { serveOpenApi } from './docs/open-api.js';
import { closeWhenEnding } from './drain.js';
import { demandApiKeys } from './http/api-keys.js';
import { InputPipe } from './http/inputs.js';
import {
  boundHeaderFields,
  clientErrors,
  demandStrictRequests,
  readJsonBodies,
  refuseExpectations,
  refuseForeignPages,
} from './http/requests.js';
import { idRoutes } from './ids/id-routes.js';
import { measureRequests } from './metrics/metrics.controller.js';
import { securityHeaders, servePage } from './page/serve-page.js';
import { knownMethods, ProblemFilter } from './problems/problem.filter.js';
import type { ServiceConfig } from './service-config.js';
import { ServiceLogger } from './service-log.js';
import { ServiceModule } from './service.module.js';

/** Long rubbish in place of an ID shall be answered with a 400 like short rubbish, not with a 404. */
const MAX_PARAMETER_LENGTH = 16_384;

/** Every body fits easily. */
const LONGEST_BODY_BYTES = 4_096;

/** A connection on which nothing has moved for so long is cut off, unless it only waits for a request. */
const STANDSTILL_MS = 30_000;

/** A client that sends a request byte by byte shall not hold a connection for long. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * The application, with a worker of its own, not yet listening.
 * @throws what the database and Raindrop throw
 */
export async function createService(config: ServiceConfig): Promise<NestFastifyApplication> {
  const { docsUrl, trustProxy } = config;
  const headers = await securityHeaders();
  const adapter: FastifyAdapter = new FastifyAdapter({
    bodyLimit: LONGEST_BODY_BYTES,
    trustProxy: trustProxy > 0 ? (_address, hop) => hop < trustProxy : false,
    // The worker id is given back after the last answer: clients that are still connected are served as well as ever.
    return503OnClosing: false,
    // For a request to arrive, not for its answer. Fastify's default is for ever.
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STANDSTILL_MS,
    clientErrorHandler: clientErrors(docsUrl),
    // Node.js refuses a request without one, and says nothing: refuseForeignPages says it.
    http: { requireHostHeader: false },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      problems.answer(adapter.mapException(error), request, reply.headers(headers)),
  });
  const problems = new ProblemFilter(docsUrl, knownMethods(adapter));
  const app = await NestFactory.create<NestFastifyApplication>(ServiceModule.forConfig(config), adapter, {
    abortOnError: false,
    bodyParser: false,
    logger: new ServiceLogger(config.logFormat),
  });
  app.useGlobalPipes(new InputPipe());
  app.useGlobalFilters(problems);
  readJsonBodies(adapter);
  refuseExpectations(app.getHttpServer(), docsUrl);

  // Hooks, in the order in which a request passes them.
  boundReaders(app, trustProxy > 0);
  measureRequests(app);
  adapter.getInstance().addHook('onRequest', (_request, reply, done) => {
    void reply.headers(headers);
    done();
  });
  boundHeaderFields(app, problems);
  closeWhenEnding(app);
  refuseForeignPages(app, config, problems);
  limitRates(app, config.rateLimit);
  demandApiKeys(app);
  demandStrictRequests(app);
  nameRemoteAnswers(app);
  await app.register(idRoutes(app, adapter, problems));

  serveOpenApi(app);
  await servePage(adapter);
  return app;
}

/** Tells a remote client which of its requests an answer is to, so that it takes no stored one for a new one. */
function nameRemoteAnswers(app: NestFastifyApplication): void {
  const { layout } = app.get(IdService);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const asked = request.headers['raindrop-request'];
    if (asked !== undefined) void reply.headers(remoteIdsHeaders(layout, asked));
    done();
  });
}
