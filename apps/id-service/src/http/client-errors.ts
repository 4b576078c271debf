import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PROBLEM_JSON } from '../problems/problem.js';
import { ProblemException } from '../problems/problem.exception.js';
import { occurrenceOf } from '../problems/problem-of.js';
import type { ProblemFilter } from './problem.filter.js';

type OutgoingHeaders = Readonly<Record<string, string | number>>;

const KNOWN: Readonly<Record<string, readonly [status: number, errorCode: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'All header fields together may have 16 KiB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'PAYLOAD_TOO_LARGE', 'The extensions of the chunks are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The request did not arrive in time.'],
};

/** Answers what is no HTTP request, or came too slowly: no route, hook or filter ever sees it. */
export function clientErrors(docsUrl: string | undefined): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const [status, errorCode, detail] = KNOWN[code] ?? [400, 'BAD_REQUEST', 'This is no HTTP request.'];
    const { body, headers } = answerOf(new ProblemException(status, { errorCode, detail }), docsUrl);
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, '', body].join('\r\n'));
  };
}

/** Refuses `Expect: banana`, as Node.js does by itself without a word. No route, hook or filter ever sees it. */
export function refuseExpectations(server: Server, docsUrl: string | undefined): void {
  server.on('checkExpectation', (_request, response) => {
    const detail = 'Of Expect the service knows 100-continue.';
    const { body, headers } = answerOf(new ProblemException(417, { errorCode: 'EXPECTATION_FAILED', detail }), docsUrl);
    response.writeHead(417, headers).end(body);
  });
}

/**
 * Refuses a request that does not say which host it is for, or names two: who stands in front may have decided by the
 * other one. HTTP/1.0, which some probes speak, has no Host.
 */
export function demandOneHost(app: NestFastifyApplication, problems: ProblemFilter): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const detail = mistakeInHost(request.raw);
    if (detail === undefined) return done();
    // Also for the page's files, which are none of Nest's routes.
    problems.answer(new ProblemException(400, { errorCode: 'BAD_REQUEST', detail }), request, reply);
  });
}

function mistakeInHost({ rawHeaders, headers, httpVersion, url = '' }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length;
  if (hosts > 1) return 'The request has more than one Host.';
  if (hosts === 0 && httpVersion !== '1.0') return 'The request has no Host.';
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(url)) return undefined;
  // With http://a the Host may be a:80.
  const isSame = hostOf(url) !== undefined && hostOf(url) === hostOf(`${url.split(':')[0]!}://${headers.host ?? ''}`);
  return isSame ? undefined : 'The address of the request names another host than its Host.';
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

function answerOf(problem: ProblemException, docsUrl: string | undefined): { body: string; headers: OutgoingHeaders } {
  const body = JSON.stringify(occurrenceOf(problem, docsUrl));
  const headers = {
    'content-type': PROBLEM_JSON,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  return { body, headers };
}
