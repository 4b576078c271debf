import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Timers } from '@raindrop/core';
import { Deadline, UnavailableError } from '@raindrop/core/internal';
import type { RedisScript } from './redis-scripts.js';

/** An ioredis client of the application (it stays open), or how to connect. */
export type RedisTarget = Redis | Cluster | RedisOptions | string;

/**
 * A connection whose calls settle within a time limit.
 *
 * A client of its own connects at the first call, never by itself; it queues no command and sends none twice. So none of
 * its timers keeps the process alive. Uniqueness does not depend on this: a client of the application may queue, resend
 * and reconnect.
 */
export class RedisConnection {
  private readonly client: Redis | Cluster;
  private readonly isOwn: boolean;
  private connecting: Promise<void> | undefined;
  private isClosed = false;
  /** The last error of a client of our own; undefined while it is connected. */
  private trouble: string | undefined;

  /** @param kind whether a call keeps the process alive until it is answered. The connection by itself never does */
  constructor(
    target: RedisTarget,
    private readonly timers: Timers,
    private readonly timeoutMs: number,
    private readonly kind: 'background' | 'foreground' = 'background',
  ) {
    this.isOwn = !isClient(target);
    this.client = isClient(target) ? target : ownClient(target, timeoutMs);
    if (!this.isOwn) return;
    // ioredis prints an 'error' without a listener. Its message says why calls find a closed connection.
    this.client.on('error', (error: Error) => (this.trouble = error.message));
    this.client.on('ready', () => (this.trouble = undefined));
    // The socket does not keep the process alive. A call that waits for an answer may, see `kind`.
    this.client.on('connect', () => (this.client as Redis).stream.unref());
  }

  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  /**
   * Runs a script. Every number of its answer becomes text, whether the client has `stringNumbers` set or not.
   * @throws RedisUnavailableError for every failure; whether the script was executed is unknown
   */
  async run(
    what: string,
    { lua, sha }: RedisScript,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<unknown[]> {
    const call = async (): Promise<unknown> => {
      if (!this.isReady) await this.connect();
      try {
        return await this.client.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return this.client.eval(lua, keys.length, ...keys, ...args);
      }
    };
    let answer: unknown;
    try {
      if (this.isClosed) throw new Error('the connection is closed');
      answer = await this.inTime(call);
    } catch (error) {
      throw new RedisUnavailableError(what, this.trouble ?? error);
    }
    if (!Array.isArray(answer)) throw new RedisUnavailableError(what, 'an answer of another kind');
    return textual(answer) as unknown[];
  }

  /** Safe to call more than once; leaves a client of the application open. */
  close(): void {
    this.isClosed = true;
    if (this.isOwn) this.client.disconnect();
  }

  /** Waits for a client that is connecting. A client of the application that has lost its server is not waited for. */
  private connect(): Promise<void> {
    this.connecting ??= this.becomeReady().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async becomeReady(): Promise<void> {
    const { status } = this.client;
    if (status === 'wait' || (this.isOwn && status === 'end')) return this.client.connect();
    if (status !== 'connecting' && status !== 'connect') throw new Error(`the connection is ${status}`);
    await this.inTime(() => this.nextReady());
  }

  private nextReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { client } = this;
      const forget = (): void => void client.off('ready', ready).off('close', closed);
      const ready = (): void => (forget(), resolve());
      const closed = (): void => (forget(), reject(new Error('the connection was closed')));
      client.on('ready', ready).on('close', closed);
    });
  }

  private inTime<T>(call: () => Promise<T>): Promise<T> {
    // The client does not notice a connection that has fallen silent: the next call is made on another one.
    const expire = (): void => void (this.isOwn && this.client.disconnect());
    return new Deadline(this.timeoutMs, this.timers, expire, this.kind).run(call);
  }
}

function textual(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(textual);
  return typeof answer === 'number' || typeof answer === 'bigint' ? String(answer) : answer;
}

function isClient(target: RedisTarget): target is Redis | Cluster {
  // Not `instanceof`: the application may have its own copy of ioredis.
  return typeof target === 'object' && 'evalsha' in target && typeof target.evalsha === 'function';
}

function ownClient(target: RedisOptions | string, timeoutMs: number): Redis {
  const never: RedisOptions = {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    // Its timer holds the process even when the socket is gone already.
    disconnectTimeout: 100,
  };
  return typeof target === 'string'
    ? new Redis(target, { connectTimeout: timeoutMs, ...never })
    : new Redis({ connectTimeout: timeoutMs, ...target, ...never });
}

/** Redis did not answer, or refused. Whether the command was executed is unknown. Nothing of its outcome is used. */
export class RedisUnavailableError extends UnavailableError {
  static override readonly name = 'RedisUnavailableError';
  readonly errorCode = 'REDIS_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super('Redis', what, cause);
  }
}
