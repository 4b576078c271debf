import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Timers } from '@raindrop/core';
import { UnavailableError } from '@raindrop/core/internal';
import type { RedisScript } from './redis-scripts.js';

/** An ioredis client of the application (it stays open), or how to connect. */
export type RedisTarget = Redis | Cluster | RedisOptions | string;

/**
 * A connection that answers within a time limit or not at all.
 *
 * Its own client connects when it is needed and never by itself, queues nothing and sends nothing twice, so that no
 * timer of it keeps a process alive. Safety does not rest on that: the application's client may do all of it.
 */
export class RedisConnection {
  private readonly client: Redis | Cluster;
  private readonly isOwn: boolean;
  private connecting: Promise<void> | undefined;
  private isClosed = false;
  /** What the client of our own said last, until it was connected. */
  private trouble: string | undefined;

  constructor(
    target: RedisTarget,
    private readonly timers: Timers,
    private readonly timeoutMs: number,
  ) {
    this.isOwn = !isClient(target);
    this.client = isClient(target) ? target : ownClient(target, timeoutMs);
    if (!this.isOwn) return;
    // An 'error' without a listener would be printed. What it says is why calls only find a closed connection.
    this.client.on('error', (error: Error) => (this.trouble = error.message));
    this.client.on('ready', () => (this.trouble = undefined));
    // Whoever waits for an answer keeps the process alive by itself.
    this.client.on('connect', () => (this.client as Redis).stream.unref());
  }

  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  /**
   * Every number of the answer comes as text: a client of the application may have `stringNumbers` set, or not.
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
      answer = await this.inTime(call());
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

  /** A client that is on its way is waited for; one of the application that has lost its server is not. */
  private connect(): Promise<void> {
    this.connecting ??= this.becomeReady().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async becomeReady(): Promise<void> {
    const { status } = this.client;
    if (status === 'wait' || (this.isOwn && status === 'end')) return this.client.connect();
    if (status !== 'connecting' && status !== 'connect') throw new Error(`the connection is ${status}`);
    await this.inTime(this.nextReady());
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

  private async inTime<T>(call: Promise<T>): Promise<T> {
    let expire!: () => void;
    const deadline = new Promise<never>((_, reject) => {
      expire = () => {
        reject(new Error(`no answer within ${this.timeoutMs} ms`));
        // Nobody says so when a connection has fallen silent: the next call is made on another one.
        if (this.isOwn) this.client.disconnect();
      };
    });
    const timer = this.timers.setTimer(expire, this.timeoutMs, 'background');
    try {
      return await Promise.race([call, deadline]);
    } finally {
      timer.cancel();
    }
  }
}

function textual(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(textual);
  return typeof answer === 'number' || typeof answer === 'bigint' ? String(answer) : answer;
}

function isClient(target: RedisTarget): target is Redis | Cluster {
  // By what it can do: an application may have a copy of ioredis of its own.
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

/** Redis did not answer, or refused. What was asked for may have been executed; nothing of it is used. */
export class RedisUnavailableError extends UnavailableError {
  readonly errorCode = 'REDIS_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super('Redis', what, cause);
  }
}

/** Does not keep the process alive. */
export function sleep(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.setTimer(resolve, ms, 'background'));
}
