import { isUtf8 } from 'node:buffer';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { ProblemException } from '../problems/problem.exception.js';

/** Lets bodies be JSON in UTF-8 and nothing else, which no form of another site can send. */
export function readJsonBodies(adapter: FastifyAdapter): void {
  const server = adapter.getInstance();
  const parse = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (isUtf8(body)) return void parse(request, body.toString(), done);
    const detail = 'The body is no UTF-8.';
    done(new ProblemException(400, { errorCode: 'BAD_REQUEST', detail }));
  });
}
