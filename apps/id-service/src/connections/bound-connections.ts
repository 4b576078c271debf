import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { LogRepeats } from '../service-log.js';
import { networkOf } from '../http/client-address.js';

/** Some 20 kB each when nothing is asked. */
const MOST_CONNECTIONS = 2_000;

/** The memory of a request besides its answer. */
const REQUEST_BYTES = 8_192;

/**
 * Bounds connections, and what their readers leave unread: a client may send requests one after the other without
 * reading an answer, and Node takes all that came in one piece.
 *
 * @param isBehindProxy all connections come from the same address then
 */
export function boundReaders(app: NestFastifyApplication, isBehindProxy: boolean): void {
  const unread = new UnreadAnswers();
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

/** Queued answers are not on the socket yet. */
function weightOf(socket: Socket, responses: ServerResponse[]): number {
  const waiting = responses.filter(({ writableFinished }) => !writableFinished);
  responses.splice(0, responses.length, ...waiting);
  const queued = waiting.reduce((sum, each) => sum + (each.socket === null ? each.writableLength : 0), 0);
  return socket.writableLength + queued + waiting.length * REQUEST_BYTES;
}

interface ConnectionBounds {
  readonly most: number;
  /** For each address (IPv6: each 64-bit network). */
  readonly mostOfOne: number;
}

/**
 * Drops connections beyond these bounds, so that they cannot use up the process, nor one address the places of all.
 */
export function boundConnections(server: Server, { most, mostOfOne }: ConnectionBounds): void {
  const counts = new Map<string, number>();
  server.maxConnections = most;
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (counts.get(network) ?? 0) + 1;
    counts.set(network, count);
    socket.once('close', () => {
      const left = counts.get(network)! - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
    if (count > mostOfOne) socket.destroy();
  });
}

interface UnreadBounds {
  /** For each connection. */
  readonly mostOfOne: number;
  /** For all connections together. */
  readonly most: number;
}

/** How much clients may leave unread; a process has 512 MiB. */
const BOUNDS: UnreadBounds = { mostOfOne: 32 * 2 ** 20, most: 96 * 2 ** 20 };

interface Reader {
  /** How many bytes are unread now. */
  readonly weigh: () => number;
  /** An upper bound: all bytes added since the last measurement, read or not. */
  bytes: number;
}

/**
 * The answers that clients have not read: a client that sends requests and reads no answers would fill the memory. A
 * connection that leaves too much unread is cut off; when all together do, those that leave the most.
 * @fastify/under-pressure would refuse every client of a process that is full, and keep the one that fills it.
 */
export class UnreadAnswers {
  private readonly logger = new Logger('IdService');
  private readonly repeats = new LogRepeats();
  private readonly readers = new Map<Socket, Reader>();
  private bytes = 0;

  constructor(private readonly bounds: UnreadBounds = BOUNDS) {}

  watch(socket: Socket, weigh: () => number): void {
    this.readers.set(socket, { weigh, bytes: 0 });
    socket.once('close', () => this.forget(socket));
  }

  /** How much more may wait for the connection's reader. */
  add(socket: Socket, bytes: number): void {
    const reader = this.readers.get(socket);
    if (reader === undefined) return;
    reader.bytes += bytes;
    this.bytes += bytes;
    // Nothing is taken off before: it costs more to know when something has been read than to look once in a while.
    if (reader.bytes > this.bounds.mostOfOne && this.weigh(reader) > this.bounds.mostOfOne) this.cutOff(socket);
    if (this.bytes > this.bounds.most) this.relieve();
  }

  /** Makes enough room that it need not be made again at once. */
  private relieve(): void {
    for (const reader of this.readers.values()) this.weigh(reader);
    if (this.bytes < this.bounds.most * 0.75) return;
    const greediest = [...this.readers].sort(([, a], [, b]) => b.bytes - a.bytes);
    for (const [socket] of greediest) {
      if (this.bytes < this.bounds.most / 2) return;
      this.cutOff(socket);
    }
  }

  private weigh(reader: Reader): number {
    const bytes = reader.weigh();
    this.bytes += bytes - reader.bytes;
    return (reader.bytes = bytes);
  }

  private cutOff(socket: Socket): void {
    const unsaid = this.repeats.admit('cut off');
    if (unsaid !== undefined) {
      const more = unsaid === 0 ? '' : ` (${unsaid} more before)`;
      const unread = `${Math.ceil(this.readers.get(socket)!.bytes / 2 ** 20)} MiB`;
      this.logger.warn(`A connection with ${unread} of unread answers was closed${more}.`);
    }
    this.forget(socket);
    socket.destroy();
  }

  private forget(socket: Socket): void {
    this.bytes -= this.readers.get(socket)?.bytes ?? 0;
    this.readers.delete(socket);
  }
}
