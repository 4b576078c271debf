import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DemoConfig } from './demo-config.js';
import { DemoLogger } from './demo-logger.js';
import { DemoModule } from './demo.module.js';
import { serveOpenApi } from './docs/open-api.js';
import { demandApiKeys } from './http/demand-api-keys.js';
import { inputPipe } from './http/input-pipe.js';
import { limitRates } from './http/limit-rates.js';
import { nameRemoteAnswers } from './http/name-remote-answers.js';
import { ProblemFilter } from './http/problem.filter.js';
import { sendSecurityHeaders } from './http/security-headers.js';
import { issueAtOnce } from './ids/issue-at-once.js';
import { servePage } from './page/serve-page.js';
import { connectTcp } from './tcp/connect-tcp.js';

/** Long rubbish in place of an ID shall be answered with a 400 like short rubbish, not with a 404. */
const MAX_PARAMETER_LENGTH = 16_384;

/**
 * The application, with a worker of its own, not yet listening.
 * @throws what the database and Raindrop throw
 */
export async function createDemo(config: DemoConfig): Promise<NestFastifyApplication> {
  const { docsUrl, trustProxy } = config;
  const problems = new ProblemFilter(docsUrl);
  const adapter: FastifyAdapter = new FastifyAdapter({
    bodyLimit: config.bodyLimitBytes,
    trustProxy: trustProxy > 0 ? (_address, hop) => hop < trustProxy : false,
    // The worker id is given back after the last answer: who is still connected is served as well as ever.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      problems.answer(adapter.mapException(error), request, reply),
  });
  const app = await NestFactory.create<NestFastifyApplication>(DemoModule.forConfig(config), adapter, {
    abortOnError: false,
    logger: new DemoLogger(config.logFormat),
  });
  app.useGlobalPipes(inputPipe());
  app.useGlobalFilters(problems);
  await sendSecurityHeaders(adapter);
  await limitRates(adapter, config.rateLimit);
  demandApiKeys(app);
  nameRemoteAnswers(app);
  issueAtOnce(app);
  serveOpenApi(app);
  await servePage(adapter);
  connectTcp(app, config);
  return app;
}
