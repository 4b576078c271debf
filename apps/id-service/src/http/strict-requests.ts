import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { ProblemException } from '../problems/problem.exception.js';

/** Their queries are read, and refuse names that they do not know. */
const WITH_QUERY = new Set(['/v1/ids', '/v1/ids/stream', '/v1/ids/:id', '/v1/numbers/:code']);

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** Refuses under /v1 what would be passed over in silence: parts of a query, and bodies that are written otherwise. */
export function demandStrictRequests(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? '';
    done(route.startsWith('/v1/') ? (mistakeInQuery(request, route) ?? mistakeInBody(request)) : undefined);
  });
}

function mistakeInQuery({ url, query }: FastifyRequest, route: string): ProblemException | undefined {
  const at = url.indexOf('?');
  if (at === -1) return undefined;
  if (!isEncodedUtf8(url.slice(at))) return wrong('the query must be UTF-8, percent-encoded');
  for (const [name, value] of Object.entries(query as object)) {
    const shown = JSON.stringify(name.slice(0, 48));
    if (!WITH_QUERY.has(route)) return wrong(`${shown} is not known here; legal: no query`);
    if (Array.isArray(value)) return wrong(`${shown} is given more than once`);
  }
  return undefined;
}

function isEncodedUtf8(query: string): boolean {
  try {
    return !query.includes('%') || decodeURIComponent(query) !== undefined;
  } catch {
    return false;
  }
}

function mistakeInBody({ headers }: FastifyRequest): ProblemException | undefined {
  const encoding = headers['content-encoding'] ?? 'identity';
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (encoding.toLowerCase() === 'identity' && /^utf-?8$/i.test(charset)) return undefined;
  const detail = 'Bodies are JSON in UTF-8 and not compressed.';
  return new ProblemException(415, { errorCode: 'UNSUPPORTED_MEDIA_TYPE', detail });
}

function wrong(detail: string): ProblemException {
  return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail });
}
