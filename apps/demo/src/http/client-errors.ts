import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_JSON } from '../problems/problem.js';
import { ProblemException } from '../problems/problem.exception.js';
import { occurrenceOf } from '../problems/problem-of.js';

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
    const body = JSON.stringify(occurrenceOf(new ProblemException(status, { errorCode, detail }), docsUrl));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${PROBLEM_JSON}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'x-content-type-options: nosniff',
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}
