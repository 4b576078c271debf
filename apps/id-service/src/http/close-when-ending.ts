import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Drain } from '../drain.js';

/**
 * Tells clients, as long as the service serves on, not to send more on the same connection, for it will be closed; and
 * holds requests back in the moment in which the server is.
 */
export function closeWhenEnding(app: NestFastifyApplication): void {
  const drain = app.get(Drain);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (_request, reply, done) => {
      if (!drain.hasBegun) return done();
      void reply.header('connection', 'close');
      if (drain.hold === undefined) done();
      else void drain.hold.then(() => done());
    });
}
