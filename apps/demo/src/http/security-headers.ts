import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Swagger UI styles its elements inline and draws its icons from data: URLs; nothing is loaded from elsewhere. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Headers for browsers, on every answer. */
export function addSecurityHeaders(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply
      .header('content-security-policy', POLICY)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer');
    done();
  });
}
