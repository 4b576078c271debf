import type { Redis } from 'ioredis';
import type { SegmentSource } from '../../../libs/core/src/segment/segment-store.js';
import type { RedisBufferOptions } from '../../../libs/node/src/redis/redis-options.js';
import { RedisSegmentBuffer } from '../../../libs/node/src/redis/redis-segment-buffer.js';
import type { RedisSegmentSource } from '../../../libs/node/src/redis/redis-segment-source.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import type { PrivateServer } from '../servers/private-server.js';
import { until } from '../until.js';
import { RedisAdmins } from './empty-redis.js';
import { PoppedNumbers } from './popped-numbers.js';
import { SharedRow } from './shared-row.js';

/** One that pops, as a process does: one call at a time, always above what it had. */
export class Popper {
  above = 0n;
  private isStopped = false;
  private running: Promise<void> | undefined;

  constructor(
    readonly source: RedisSegmentSource,
    private readonly popped: PoppedNumbers,
  ) {}

  async pop(times = 1, count = 10): Promise<void> {
    for (let i = 0; i < times; i++) {
      const segment = await this.source.reserve({ count, above: this.above });
      if (segment.first <= this.above) throw new Error(`${segment.first} is not above ${this.above}`);
      this.above = segment.last;
      this.popped.add(segment);
    }
  }

  /** Pops until it is stopped; failures are left to the next attempt. */
  start(): void {
    this.running = (async () => {
      while (!this.isStopped) await this.pop().catch(() => new Promise((resolve) => setTimeout(resolve, 5)));
    })();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }
}

/** Poppers with connections of their own over one row, and the record of what they got. */
export class RedisBench {
  readonly row = new SharedRow(0n, 200);
  readonly popped = new PoppedNumbers();
  private readonly buffers: RedisSegmentBuffer[] = [];
  private readonly admins = new RedisAdmins();

  buffer(server: PrivateServer, options: Partial<RedisBufferOptions> = {}): RedisSegmentBuffer {
    const buffer = new RedisSegmentBuffer(
      { connection: server.url, redisTimeoutMs: 2_000, ...options },
      'test',
      systemPorts('exact'),
    );
    this.buffers.push(buffer);
    return buffer;
  }

  popper(server: PrivateServer, options: Partial<RedisBufferOptions> = {}, database: SegmentSource = this.row): Popper {
    return new Popper(this.buffer(server, options).shard(1, 2, database), this.popped);
  }

  poppers(count: number, server: PrivateServer, options: Partial<RedisBufferOptions> = {}): Popper[] {
    return Array.from({ length: count }, () => this.popper(server, options));
  }

  /** Waits until so many more numbers have been popped. */
  async morePopped(numbers = 1): Promise<void> {
    const wanted = this.popped.count + numbers;
    await until(`${numbers} more numbers to be popped`, () => this.popped.count >= wanted);
  }

  /** A client to give the server orders with. */
  admin(server: PrivateServer): Redis {
    return this.admins.admin(server);
  }

  async close(): Promise<void> {
    await Promise.all(this.buffers.map((buffer) => buffer.close()));
    this.admins.disconnect();
  }
}
