import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { boundConnections } from '../connections/bound-connections.js';
import { UnreadAnswers } from '../connections/unread-answers.js';

/** Some 20 kB each when nothing is asked. */
const MOST_CONNECTIONS = 2_000;

/** What a request takes beside its answer. */
const REQUEST_BYTES = 8_192;

/**
 * Bounds connections, and what their readers leave unread: a client may send requests one after the other without
 * reading an answer, and Node takes all that came in one piece.
 *
 * @param isBehindProxy all connections come from the same address then
 */
export function boundReaders(app: NestFastifyApplication, isBehindProxy: boolean): void {
  const unread = app.get(UnreadAnswers);
  const server = app.getHttpAdapter().getInstance();
  const mostOfOne = isBehindProxy ? MOST_CONNECTIONS : MOST_CONNECTIONS / 2;
  boundConnections(server.server, { most: MOST_CONNECTIONS, mostOfOne });
  const pipelines = new WeakMap<Socket, ServerResponse[]>();
  server.server.on('connection', (socket: Socket) => {
    const responses: ServerResponse[] = [];
    pipelines.set(socket, responses);
    unread.watch(socket, () => weightOf(socket, responses));
  });
  server.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    // The rest of what came in one piece with the request that was too much.
    if (socket.destroyed) return void reply.hijack();
    const responses = pipelines.get(socket);
    // They are sent in order: after the last one nothing is left.
    if (responses?.at(-1)?.writableFinished === true) responses.length = 0;
    responses?.push(reply.raw);
    unread.add(socket, REQUEST_BYTES);
    done();
  });
  server.addHook('onSend', (request, _reply, payload, done) => {
    const { length } = (payload ?? '') as { length?: number };
    // A stream makes no more than is read.
    if (length !== undefined) unread.add(request.raw.socket, length);
    done();
  });
}

/** What waits for its turn is not on the socket yet. */
function weightOf(socket: Socket, responses: ServerResponse[]): number {
  const waiting = responses.filter(({ writableFinished }) => !writableFinished);
  responses.splice(0, responses.length, ...waiting);
  const queued = waiting.reduce((sum, each) => sum + (each.socket === null ? each.writableLength : 0), 0);
  return socket.writableLength + queued + waiting.length * REQUEST_BYTES;
}
