import { Redis } from 'ioredis';
import type { PrivateServer } from '../servers/private-server.js';
import { startVolatileRedis } from './volatile-redis.js';

/** Clients to give servers orders with. */
export class RedisAdmins {
  private readonly open: Redis[] = [];

  admin(server: PrivateServer): Redis {
    const admin = new Redis(server.url);
    admin.on('error', () => undefined);
    this.open.push(admin);
    return admin;
  }

  disconnect(): void {
    for (const each of this.open) each.disconnect();
  }
}

/** What a test works with on a Redis. */
interface Bench {
  admin(server: PrivateServer): Redis;
  close(): Promise<void>;
}

/**
 * Gives each test of a suite a bench of its own, on a Redis that all of them share and that is empty when a test begins:
 * what it keeps of the one before are the same numbers.
 */
export function onEmptyRedis<B extends Bench>(
  make: new () => B,
  given: (server: PrivateServer, bench: B) => void,
): void {
  let server: PrivateServer;
  let bench: B;

  beforeAll(async () => {
    server = await startVolatileRedis();
  });

  afterAll(() => server.stop());

  beforeEach(async () => {
    bench = new make();
    await bench.admin(server).flushall();
    given(server, bench);
  });

  afterEach(() => bench.close());
}
