import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceConfig } from './service-config.js';
import { ServiceLogger } from './service-logger.js';
import { ServiceModule } from './service.module.js';
import { serveOpenApi } from './docs/open-api.js';
import { boundReaders } from './http/bound-readers.js';
import { clientErrors, demandOneHost, refuseExpectations } from './http/client-errors.js';
import { demandApiKeys } from './http/demand-api-keys.js';
import { InputPipe } from './http/input-pipe.js';
import { closeWhenEnding } from './http/close-when-ending.js';
import { readJsonBodies } from './http/json-bodies.js';
import { knownMethods } from './http/known-methods.js';
import { limitRates } from './http/limit-rates.js';
import { nameRemoteAnswers } from './http/name-remote-answers.js';
import { ProblemFilter } from './http/problem.filter.js';
import { refuseForeignPages } from './http/refuse-foreign-pages.js';
import { securityHeaders, sendSecurityHeaders } from './http/security-headers.js';
import { demandStrictRequests } from './http/strict-requests.js';
import { issueAtOnce } from './ids/issue-at-once.js';
import { measureRequests } from './metrics/measure-requests.js';
import { servePage } from './page/serve-page.js';

/** Long rubbish in place of an ID shall be answered with a 400 like short rubbish, not with a 404. */
const MAX_PARAMETER_LENGTH = 16_384;

/** Every body fits easily. */
const LONGEST_BODY_BYTES = 4_096;

/** A connection on which nothing has moved for so long is cut off, unless it only waits for a request. */
const STANDSTILL_MS = 30_000;

/** Who sends a request byte by byte shall not hold a connection for long. */
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
    // The worker id is given back after the last answer: who is still connected is served as well as ever.
    return503OnClosing: false,
    // For a request to arrive, not for its answer. Fastify's default is for ever.
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STANDSTILL_MS,
    clientErrorHandler: clientErrors(docsUrl),
    // Node.js refuses a request without one, and says nothing: demandOneHost says it.
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
  readJsonBodies(adapter);
  app.useGlobalPipes(new InputPipe());
  app.useGlobalFilters(problems);
  boundReaders(app, trustProxy > 0);
  measureRequests(app);
  sendSecurityHeaders(adapter, headers);
  closeWhenEnding(app);
  refuseExpectations(app.getHttpServer(), docsUrl);
  demandOneHost(app, problems);
  refuseForeignPages(app, config, problems);
  limitRates(app);
  demandApiKeys(app);
  demandStrictRequests(app);
  nameRemoteAnswers(app);
  issueAtOnce(app);
  serveOpenApi(app);
  await servePage(adapter);
  return app;
}
