import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DemoConfig } from './demo-config.js';
import { DemoLogger } from './demo-logger.js';
import { DemoModule } from './demo.module.js';
import { serveOpenApi } from './docs/open-api.js';
import { inputPipe } from './http/input-pipe.js';
import { RaindropErrorFilter } from './http/raindrop-error.filter.js';
import { sendSecurityHeaders } from './http/security-headers.js';
import { issueAtOnce } from './ids/issue-at-once.js';

const BODY_LIMIT_BYTES = 256 * 1024;

/** Long rubbish in place of an ID shall be answered with a 400 like short rubbish, not with a 404. */
const MAX_PARAMETER_LENGTH = 16_384;

/**
 * The application, with a worker of its own, not yet listening.
 * @throws what the database and Raindrop throw
 */
export async function createDemo(config: DemoConfig): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
  });
  const app = await NestFactory.create<NestFastifyApplication>(DemoModule.forConfig(config), adapter, {
    abortOnError: false,
    logger: new DemoLogger(),
  });
  app.useGlobalPipes(inputPipe());
  app.useGlobalFilters(new RaindropErrorFilter(adapter));
  await sendSecurityHeaders(adapter);
  issueAtOnce(app);
  serveOpenApi(app);
  return app;
}
