import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { startVolatileRedis } from '../../support/redis/volatile-redis.js';
import type { PrivateServer } from '../../support/servers/private-server.js';

/** The Redis of a run, which keeps nothing but its snapshots. One fault at a time. */
export class ChaosRedis {
  private busyWith: Promise<unknown> = Promise.resolve();

  private constructor(private readonly server: PrivateServer) {}

  /** @throws Error when the server is not installed or does not start */
  static async start(): Promise<ChaosRedis> {
    return new ChaosRedis(await startVolatileRedis());
  }

  get target(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.server.port };
  }

  /** kill -9; it comes back with the last snapshot, if there is one. */
  kill(downMs: number): Promise<void> {
    return this.next(async () => {
      await this.server.kill('SIGKILL');
      await sleep(downMs);
      await this.server.restart();
    });
  }

  flush(): Promise<void> {
    return this.next(() => this.tell((redis) => redis.flushall()));
  }

  /** It comes back with a snapshot that is `oldMs` old. */
  rewind(oldMs: number): Promise<void> {
    return this.next(async () => {
      await this.tell((redis) => redis.save());
      await sleep(oldMs);
      await this.server.kill('SIGKILL');
      await this.server.restart();
    });
  }

  async stop(): Promise<void> {
    await this.busyWith;
    await this.server.stop();
  }

  private next(fault: () => Promise<void>): Promise<void> {
    const done = this.busyWith.then(fault);
    this.busyWith = done.catch(() => undefined);
    return done;
  }

  private async tell(order: (redis: Redis) => Promise<unknown>): Promise<void> {
    const redis = new Redis(this.server.url);
    redis.on('error', () => undefined);
    try {
      await order(redis);
    } finally {
      redis.disconnect();
    }
  }
}
