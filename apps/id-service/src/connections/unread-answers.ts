import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { LogRepeats } from '../problems/log-repeats.js';

export interface UnreadBounds {
  /** Of one connection. */
  readonly mostOfOne: number;
  /** Of all connections together. */
  readonly most: number;
}

/** What clients of the service may leave unread, of one connection and of all; a process has 512 MiB. */
const BOUNDS: UnreadBounds = { mostOfOne: 32 * 2 ** 20, most: 96 * 2 ** 20 };

interface Reader {
  /** How many bytes are unread now. */
  readonly weigh: () => number;
  /** So many at most: what was added since they were weighed, whether it has been read or not. */
  bytes: number;
}

/**
 * What clients have asked for and not read, over all transports of this process: whoever sends requests and reads no
 * answers would fill its memory. A connection that leaves too much unread is cut off; when all together do, those that
 * leave the most.
 */
export class UnreadAnswers {
  private readonly logger = new Logger('IdService');
  private readonly repeats = new LogRepeats();
  private readonly readers = new Map<Socket, Reader>();
  private bytes = 0;

  constructor(private readonly bounds: UnreadBounds = BOUNDS) {}

  watch(socket: Socket, weigh: () => number = () => socket.writableLength): void {
    this.readers.set(socket, { weigh, bytes: 0 });
    socket.once('close', () => this.forget(socket));
  }

  /** So much more may wait for the connection's reader. */
  add(socket: Socket, bytes: number): void {
    const reader = this.readers.get(socket);
    if (reader === undefined) return;
    reader.bytes += bytes;
    this.bytes += bytes;
    // Nothing is taken off before: it costs more to know when something has been read than to look once in a while.
    if (reader.bytes > this.bounds.mostOfOne && this.weigh(reader) > this.bounds.mostOfOne) this.cutOff(socket);
    if (this.bytes > this.bounds.most) this.relieve();
  }

  /** Weighs a connection whose answers others have written. */
  look(socket: Socket): void {
    const reader = this.readers.get(socket);
    if (reader === undefined) return;
    this.weigh(reader);
    this.add(socket, 0);
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
      this.logger.warn(`A connection was cut off that left ${unread} of answers unread${more}.`);
    }
    this.forget(socket);
    socket.destroy();
  }

  private forget(socket: Socket): void {
    this.bytes -= this.readers.get(socket)?.bytes ?? 0;
    this.readers.delete(socket);
  }
}
