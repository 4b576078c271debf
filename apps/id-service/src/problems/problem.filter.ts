import { Catch, Logger, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { RaindropError } from '@raindrop/nestjs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { connectionClosed } from './gone-signal.js';
import { LogRepeats } from '../service-log.js';
import { occurrenceOf, PROBLEM_JSON, ProblemException, type Problem } from './problem.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Answers every error with problem details. What is not the client's fault goes to the log, with the driver's words.
 * RaindropExceptionFilter knows Raindrop's errors only, and names no `instance`; both tell the same (`raindropProblem`).
 */
@Catch()
export class ProblemFilter implements ExceptionFilter<unknown> {
  private readonly logger = new Logger('IdService');
  private readonly repeats = new LogRepeats();

  /** @param methodsAt which methods an address knows, for those that know others than the one that was asked for */
  constructor(
    private readonly docsUrl?: string,
    private readonly methodsAt: (url: string) => readonly string[] = () => [],
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Also for what goes wrong before Nest is asked. */
  answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = isEndOfConnection(thrown, request, reply) ? connectionClosed() : thrown;
    const legal = error instanceof NotFoundException && request.is404 ? this.methodsAt(request.url) : [];
    // A file of the page that is gone is not found, although GET is right there.
    const isWrongMethod = legal.length > 0 && !legal.includes(request.method);
    const problem = occurrenceOf(isWrongMethod ? methodNotAllowed(request.method, legal) : error, this.docsUrl);
    if (problem.status >= 500) this.log(error, problem, request);
    // The head of a stream is gone: what can be said has been said in it.
    if (reply.sent) return;
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    if (problem.status === 405) void reply.header('allow', legal.join(', '));
    const retryAfter = problem.status === 503 ? RETRY_AFTER_SECONDS : problem.retryAfterSeconds;
    if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
    void reply.code(problem.status).header('content-type', PROBLEM_JSON).send(JSON.stringify(problem));
  }

  /** In an outage every request is refused in the same way: one entry in a while says so, and how many there were. */
  private log(
    error: unknown,
    { status, errorCode, instance }: Problem,
    { method, routeOptions }: FastifyRequest,
  ): void {
    const what = `${errorCode} at ${method} ${routeOptions?.url ?? 'of no route'}`;
    const unsaid = status === 503 ? this.repeats.admit(what) : 0;
    if (unsaid === undefined) return;
    const more = unsaid === 0 ? '' : ` (${unsaid} more before)`;
    const message = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error && !(error instanceof RaindropError) ? error.stack : undefined;
    this.logger.error(`${what}, ${instance}${more}: ${message}`, ...(stack === undefined ? [] : [stack]));
  }
}

/**
 * Whether the client has left in the midst of its request, or of the answer. The codes alone do not say so: a database
 * whose connection is lost has them too.
 */
function isEndOfConnection(error: unknown, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  const isCutOff = code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.socket.destroyed;
  return isCutOff || (code !== undefined && (error === raw.errored || error === reply.raw.errored));
}

function methodNotAllowed(method: string, legal: readonly string[]): ProblemException {
  const detail = `${method} is not possible here; legal: ${legal.join(', ')}`;
  return new ProblemException(405, { errorCode: 'METHOD_NOT_ALLOWED', detail });
}

/** Remembers the routes from now on. @returns which methods those of an address know, for a 405 and its `Allow` */
export function knownMethods(adapter: FastifyAdapter): (url: string) => readonly string[] {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  adapter.getInstance().addHook('onRoute', ({ url, method }) => {
    routes.push({ path: pathsOf(url), methods: [method].flat() });
  });
  return (url) => {
    const path = url.replace(/[?#].*$/s, '');
    const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  };
}

/** The addresses of a route such as `/v1/ids/:id`. */
function pathsOf(route: string): RegExp {
  const segments = route.replace(/\/$/, '').split('/');
  const taken = segments.map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${taken.join('/')}/?$`);
}
