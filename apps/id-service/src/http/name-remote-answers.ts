import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdService } from '@raindrop/nestjs';
import { remoteIdsHeaders } from '@raindrop/nestjs/remote';

/** Tells a remote client which of its requests an answer is to, so that it takes no stored one for a new one. */
export function nameRemoteAnswers(app: NestFastifyApplication): void {
  const { layout } = app.get(IdService);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      const asked = request.headers['raindrop-request'];
      if (asked !== undefined) void reply.headers(remoteIdsHeaders(layout, asked));
      done();
    });
}
