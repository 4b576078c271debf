import type { Timers } from '@raindrop/core';
import { ClockSkewError, FormerPrimaryError, wallClock } from '@raindrop/core/internal';
import { RedisConnection, type RedisTarget } from '../redis-connection.js';
import { RedisUnavailableError } from '../redis-errors.js';
import { workerScripts, type WorkerScriptName } from './worker-scripts.js';
import { CorruptRedisWorkerError } from './worker-text.js';

export interface RedisWorkerCallsOptions {
  readonly connection: RedisTarget;
  /** The hash that holds everything. */
  readonly key: string;
  readonly opTimeoutMs: number;
  /** How far what this service is granted can reach, ms: see reachOf. */
  readonly reachMs: number;
  /** How long nobody may acquire a worker id at least after Redis lost its memory, ms. Default {@link LEAST_REACH_MS}. */
  readonly leastReachMs?: number | undefined;
  /** How far this host's clock and Redis' may be apart where a loss is noted. No limit when left out. */
  readonly maxClockSkewMs?: number | undefined;
  readonly timers: Timers;
  /** Is told when nobody can acquire a worker id for a while, once each time that Redis lost its memory. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** The reach of the default lease: after a loss nobody knows who else had the key, and with which. */
export const LEAST_REACH_MS = 185_000;

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** What a script said, and of which memory. */
export interface WorkerAnswer {
  /** Another one each time that Redis lost its memory. */
  readonly generation: string;
  /** No odometer is believed below the end of that moment's tick; 0 for none. */
  readonly floorMs: number;
  readonly nowMs: number;
  readonly rest: readonly unknown[];
}

/** The scripts of a worker store, over a connection that can be abandoned. */
export class RedisWorkerCalls {
  private connection: RedisConnection;
  private isClosed = false;
  private warnedOf: string | undefined;
  /** The longest that was ever heard of: a Redis that has forgotten it is told. */
  private reachMs: number;
  /** That of the last answer: a server with an earlier one was replaced. */
  private generation = '';

  constructor(private readonly options: RedisWorkerCallsOptions) {
    this.reachMs = options.reachMs;
    this.connection = this.connect();
  }

  /**
   * @throws RedisUnavailableError, whether it was executed is unknown; FormerPrimaryError; ClockSkewError;
   * CorruptRedisWorkerError
   */
  async run(
    what: string,
    name: Exclude<WorkerScriptName, 'init' | 'durability'>,
    args: readonly (string | number)[],
  ): Promise<WorkerAnswer> {
    const [generation, floor, now, reach, ...rest] = await this.call(what, name, args);
    if (rest[0] === 'former' || rest[0] === 'skew') throw this.refusalOf(rest[0], Number(now));
    if (name !== 'peek') this.generation = String(generation);
    this.reachMs = Math.max(this.reachMs, Number(reach));
    if (rest[0] === 'corrupt') throw new CorruptRedisWorkerError(this.options.key, String(rest[1]));
    const answer = { generation: String(generation), floorMs: Number(floor), nowMs: Number(now), rest };
    this.warnOf(answer);
    return answer;
  }

  /** What the server says about itself. @throws RedisUnavailableError */
  settings(): Promise<readonly unknown[]> {
    return this.call('reading its settings', 'durability', []);
  }

  /** The next call connects anew. A client of the application stays connected; what it still answers is not used. */
  abandon(): void {
    this.connection.close();
    if (!this.isClosed) this.connection = this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.connection.close();
  }

  private async call(
    what: string,
    name: WorkerScriptName,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const { connection } = this;
    const { key, leastReachMs = LEAST_REACH_MS, maxClockSkewMs = NO_LIMIT, timers, opTimeoutMs } = this.options;
    // Whoever waits for an answer keeps the process alive; the connection by itself does not.
    const waiting = timers.setTimer(() => undefined, opTimeoutMs, 'foreground');
    try {
      const said = await connection.run(
        what,
        workerScripts[name],
        [key],
        [[this.reachMs, leastReachMs, wallClock.now(), maxClockSkewMs, this.generation].join(' '), ...args.map(String)],
      );
      if (connection !== this.connection) throw new RedisUnavailableError(what, 'the call was abandoned');
      return said;
    } catch (error) {
      // A server that is silent, was demoted or has moved is not asked again on the same connection.
      if (connection === this.connection) this.abandon();
      throw error;
    } finally {
      waiting.cancel();
    }
  }

  /** Another connection may lead to the present primary. */
  private refusalOf(what: 'former' | 'skew', nowMs: number): FormerPrimaryError | ClockSkewError {
    this.abandon();
    if (what === 'former') return new FormerPrimaryError();
    return new ClockSkewError(wallClock.now() - nowMs, this.options.maxClockSkewMs ?? NO_LIMIT);
  }

  private warnOf({ generation, floorMs, nowMs }: WorkerAnswer): void {
    if (floorMs <= nowMs || generation === this.warnedOf) return;
    this.warnedOf = generation;
    this.options.warn?.(
      `Redis has lost its memory of the worker ids in ${this.options.key}, or part of it, or never had one: none is ` +
        `given before ${new Date(floorMs).toISOString()}. Processes go on with theirs where Redis still shows them. Do ` +
        `not change the layout meanwhile: which ones have issued here may be forgotten, too`,
    );
  }

  private connect(): RedisConnection {
    const { connection, timers, opTimeoutMs } = this.options;
    return new RedisConnection(connection, timers, opTimeoutMs);
  }
}
