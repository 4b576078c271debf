import { isUtf8 } from 'node:buffer';
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { occurrenceOf, PROBLEM_JSON, ProblemException } from '../problems/problem.js';
import type { ProblemFilter } from '../problems/problem.filter.js';
import type { ServiceConfig } from '../service-config.js';
import { LOOPBACK } from './api-keys.js';

const KNOWN: Readonly<Record<string, readonly [status: number, errorCode: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'The header fields exceed 16 KiB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'PAYLOAD_TOO_LARGE', 'The chunk extensions are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The request did not arrive in time.'],
};

/** Answers what is no HTTP request, or came too slowly: no route, hook or filter ever sees it. */
export function clientErrors(docsUrl: string | undefined): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const [status, errorCode, detail] = KNOWN[code] ?? [400, 'BAD_REQUEST', 'This is not an HTTP request.'];
    const { body, headers } = lastAnswer(new ProblemException(status, { errorCode, detail }), docsUrl);
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, '', body].join('\r\n'));
  };
}

/** Refuses `Expect: banana`, as Node.js does by itself without a word. No route, hook or filter ever sees it. */
export function refuseExpectations(server: Server, docsUrl: string | undefined): void {
  server.on('checkExpectation', (_request, response) => {
    const detail = 'The service supports only Expect: 100-continue.';
    const { body, headers } = lastAnswer(
      new ProblemException(417, { errorCode: 'EXPECTATION_FAILED', detail }),
      docsUrl,
    );
    response.writeHead(417, headers).end(body);
  });
}

function lastAnswer(problem: ProblemException, docsUrl: string | undefined): { body: string; headers: LastHeaders } {
  const body = JSON.stringify(occurrenceOf(problem, docsUrl));
  const length = Buffer.byteLength(body);
  const headers = { 'content-type': PROBLEM_JSON, 'content-length': length, 'x-content-type-options': 'nosniff' };
  return { body, headers: { ...headers, connection: 'close' } };
}

type LastHeaders = Readonly<Record<string, string | number>>;

/** Apache's limit too. A browser sends about 20, and a proxy adds up to 15. */
const MOST_HEADER_FIELDS = 100;

/**
 * Refuses a request with more than 100 header fields. Node.js keeps the first fields and drops the others without a
 * word: a client could hide `X-Forwarded-For` behind 1,000 fields of its own, and pass for a program of this host. What
 * follows judges by fields that are absent, so it must have seen all.
 */
export function boundHeaderFields(app: NestFastifyApplication, problems: ProblemFilter): void {
  const server = app.getHttpAdapter().getInstance();
  // One more is kept, so that more than the limit can be seen.
  server.server.maxHeadersCount = MOST_HEADER_FIELDS + 1;
  server.addHook('onRequest', (request, reply, done) => {
    if (request.raw.rawHeaders.length / 2 <= MOST_HEADER_FIELDS) return done();
    const detail = `The request has more than ${MOST_HEADER_FIELDS} header fields.`;
    const tooMany = new ProblemException(431, { errorCode: 'REQUEST_HEADER_FIELDS_TOO_LARGE', detail });
    // As in refuseForeignPages: the page's files are none of Nest's routes.
    problems.answer(tooMany, request, reply);
  });
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Probes and Prometheus come with the address of a pod. */
const FOR_WATCHERS = /^\/(health|metrics)(\/|$)/;

/** Sec-Fetch-Site of a request by a page of the same origin, and of one by the user. */
const OWN_SITES = new Set(['same-origin', 'none']);

/**
 * Refuses a request that names no host or two, for a proxy in front may have decided by the other one; and keeps pages
 * of other sites from using a service that their reader can reach and they cannot. A request that changes something is
 * refused when a browser sends it for another site. Where it is known under which names the service is reached, on a
 * loopback address or with `ALLOWED_HOSTS`, every request under another name is: an attacker's name may lead here (DNS
 * rebinding).
 */
export function refuseForeignPages(
  app: NestFastifyApplication,
  { host, allowedHosts }: Pick<ServiceConfig, 'host' | 'allowedHosts'>,
  problems: ProblemFilter,
): void {
  const isLoopback = LOOPBACK.test(host);
  const knowsItsNames = isLoopback || allowedHosts.length > 0;
  const isKnown = (name: string): boolean => allowedHosts.includes(name) || (isLoopback && LOOPBACK.test(name));
  /** The name that was found known last: clients keep to one, and reading it took 0.5 µs of each request. */
  let lastKnown: string | undefined;
  const isUnknown = (name: string | undefined): boolean => {
    if (!knowsItsNames || name === undefined || name === lastKnown) return false;
    if (!isKnown(nameIn(name))) return true;
    lastKnown = name;
    return false;
  };
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const { method, headers } = request;
    const isHostRefused = isUnknown(headers.host) && !isWatched(request);
    const wrongHost = mistakeInHost(request.raw) ?? (isHostRefused ? unknownHost() : undefined);
    // Not by done(): the page's files, which are none of Nest's routes, would be refused in other words.
    if (wrongHost !== undefined) return problems.answer(wrongHost, request, reply);
    if (SAFE_METHODS.has(method)) return done();
    const { 'sec-fetch-site': site, origin } = headers;
    const isOwn = site === undefined ? isOriginOf(origin, headers.host, isKnown) : OWN_SITES.has(String(site));
    done(isOwn || isWatched(request) ? undefined : foreignPage());
  });
}

function isWatched({ routeOptions }: FastifyRequest): boolean {
  return FOR_WATCHERS.test(routeOptions.url ?? '');
}

/** HTTP/1.0, which some probes speak, has no Host. */
function mistakeInHost({ rawHeaders, headers, httpVersion, url = '' }: IncomingMessage): ProblemException | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHostField(rawHeaders[at]!)) hosts++;
  if (hosts > 1) return badRequest('The request has more than one Host header.');
  if (hosts === 0 && httpVersion !== '1.0') return badRequest('The request has no Host header.');
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(url)) return undefined;
  // With http://a the Host may be a:80.
  const isSame = hostOf(url) !== undefined && hostOf(url) === hostOf(`${url.split(':')[0]!}://${headers.host ?? ''}`);
  return isSame ? undefined : badRequest("The request's address and its Host header name different hosts.");
}

function isHostField(name: string): boolean {
  return name.length === 'host'.length && name.toLowerCase() === 'host';
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** Browsers that say no site name the origin at least; a request without one comes from no browser. */
function isOriginOf(origin: string | undefined, host = '', isKnown: (name: string) => boolean): boolean {
  if (origin === undefined) return true;
  const from = hostOf(origin) ?? '';
  return from !== '' && (from === host.toLowerCase() || (isKnown(nameIn(from)) && !LOOPBACK.test(nameIn(from))));
}

/** Without the port, in lower case. */
function nameIn(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

function unknownHost(): ProblemException {
  const detail = 'The service does not answer for this Host: add it to ALLOWED_HOSTS.';
  return new ProblemException(421, { errorCode: 'HOST_NOT_ALLOWED', detail });
}

function foreignPage(): ProblemException {
  const detail = 'Pages of other sites may not do this (Sec-Fetch-Site, Origin).';
  return new ProblemException(403, { errorCode: 'CROSS_SITE', detail });
}

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
  if (!isEncodedUtf8(url.slice(at))) return invalid('the query must be UTF-8, percent-encoded');
  for (const [name, value] of Object.entries(query as object)) {
    const shown = JSON.stringify(name.slice(0, 48));
    if (!WITH_QUERY.has(route)) return invalid(`${shown} is unknown; legal: no query`);
    if (Array.isArray(value)) return invalid(`${shown} is given more than once`);
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
  const { 'content-encoding': encoding, 'content-type': type } = headers;
  const isCompressed = encoding !== undefined && encoding.toLowerCase() !== 'identity';
  if (!isCompressed && (type === undefined || isInUtf8(type))) return undefined;
  const detail = 'A body must be uncompressed JSON in UTF-8.';
  return new ProblemException(415, { errorCode: 'UNSUPPORTED_MEDIA_TYPE', detail });
}

function isInUtf8(contentType: string): boolean {
  return /^utf-?8$/i.test(CHARSET.exec(contentType)?.[1] ?? 'utf-8');
}

/** Lets bodies be JSON in UTF-8 and nothing else, which no form of another site can send. */
export function readJsonBodies(adapter: FastifyAdapter): void {
  const server = adapter.getInstance();
  const parse = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (isUtf8(body)) void parse(request, body.toString(), done);
    else done(badRequest('The body is not UTF-8.'));
  });
}

function invalid(detail: string): ProblemException {
  return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail });
}

function badRequest(detail: string): ProblemException {
  return new ProblemException(400, { errorCode: 'BAD_REQUEST', detail });
}
