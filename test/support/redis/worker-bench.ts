import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import { type LeaseEvent, type ResolvedLeaseOptions, ClockSkewError } from '@raindrop/core';
import type { Redis } from 'ioredis';
import { resolveLayout } from '../../../libs/core/src/layout/layout-options.js';
import { initRedisWorkers } from '../../../libs/node/src/redis/worker-store/redis-workers.js';
import {
  type RedisWorkerCallsOptions,
  RedisWorkerStore,
} from '../../../libs/node/src/redis/worker-store/redis-worker-store.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { leasedIssuer, type LeasedIssuer } from '../processes/leased-issuer.js';
import type { PrivateServer } from '../servers/private-server.js';
import { until } from '../until.js';
import { RedisAdmins } from './empty-redis.js';
import { IssuedIds } from './issued-ids.js';

export const KEY = 'raindrop.worker';

/** Short, so that a loss is over within seconds, and long enough for a busy machine. */
export const LEASE: ResolvedLeaseOptions = resolveLeaseOptions({
  heartbeatIntervalMs: 200,
  leaseMs: 1_500,
  horizonMs: 1_500,
  graceMs: 200,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 300,
  waitForWorkerMs: 60_000,
});

export const REACH_MS = grantReachMs(LEASE);

const LOOK_MS = 3;
const IDS_PER_LOOK = 20;

/** The layout of a test, where it matters. */
export interface LayoutChoice {
  readonly timeUnit?: 'millisecond' | 'second';
  readonly timeStampLength?: number;
  readonly workers?: number;
}

/** One that issues, as a process does, and writes everything down. */
export class WorkerIssuer {
  readonly events: LeaseEvent[] = [];
  private readonly issuer: LeasedIssuer;
  private timer: NodeJS.Timeout | undefined;
  private starting: Promise<void> | undefined;

  constructor(
    readonly store: RedisWorkerStore,
    private readonly ids: IssuedIds,
    { timeUnit = 'second', timeStampLength = 33, workers = 1 }: LayoutChoice,
    options: ResolvedLeaseOptions,
  ) {
    const layout = { timeUnit, startTimeStamp: '2024-01-01', timeStampLength, workIdLength: 3 };
    const resolved = resolveLayout({ ...layout, serviceMinWorkId: 1, serviceMaxWorkId: workers }, Date.now());
    const onEvent = (event: LeaseEvent): void => void this.events.push(event);
    this.issuer = leasedIssuer(store, { name: 'test', resolved, lease: options, onEvent });
  }

  get keeper(): LeasedIssuer['keeper'] {
    return this.issuer.keeper;
  }

  /** Settles when it issues. */
  start(): Promise<void> {
    this.starting ??= this.keeper.start().then(() => {
      this.timer = setInterval(() => this.issue(), LOOK_MS);
    });
    return this.starting;
  }

  /** Whether there were such events. */
  saw(type: LeaseEvent['type']): boolean {
    return this.events.some((event) => event.type === type);
  }

  /** Waits for so many more renewals: nothing else tells that so much of a lease has gone by. */
  async renewals(count: number): Promise<void> {
    const renewed = (): number => this.events.filter(({ type }) => type === 'lease-renewed').length;
    const wanted = renewed() + count;
    await until(`${count} renewals`, () => renewed() >= wanted);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.keeper.close();
    await this.starting?.catch(() => undefined);
    clearInterval(this.timer);
  }

  private issue(): void {
    try {
      for (let i = 0; i < IDS_PER_LOOK; i++) {
        this.ids.add(this.issuer.generator.nextId());
      }
    } catch {
      // Refused: later, then.
    }
  }
}

/** Issuers with connections of their own, and the record of what they issued. */
export class WorkerBench {
  readonly ids = new IssuedIds();
  private readonly issuers: WorkerIssuer[] = [];
  private readonly admins = new RedisAdmins();

  /** No start has to wait on this server. */
  async init(server: PrivateServer): Promise<void> {
    await initRedisWorkers({ connection: server.url, key: KEY });
  }

  store(server: PrivateServer, more: Partial<RedisWorkerCallsOptions> = {}): RedisWorkerStore {
    const { timers } = systemPorts('turn');
    // No test waits for it: a busy machine may take seconds.
    const opTimeoutMs = 20_000;
    const reach = { reachMs: REACH_MS, leastReachMs: REACH_MS };
    return new RedisWorkerStore({ connection: server.url, key: KEY, opTimeoutMs, ...reach, timers, ...more });
  }

  issuer(
    server: PrivateServer,
    choice: LayoutChoice = {},
    lease = LEASE,
    more: Partial<RedisWorkerCallsOptions> = {},
  ): WorkerIssuer {
    const store = this.store(server, { reachMs: grantReachMs(lease), opTimeoutMs: lease.opTimeoutMs, ...more });
    const issuer = new WorkerIssuer(store, this.ids, choice, lease);
    this.issuers.push(issuer);
    return issuer;
  }

  /**
   * One that issues. A stall of this process between Redis's answer and its own clock looks like a skew: it is started
   * anew then, as a supervisor would.
   */
  async started(...args: Parameters<WorkerBench['issuer']>): Promise<WorkerIssuer> {
    const issuer = this.issuer(...args);
    try {
      await issuer.start();
      return issuer;
    } catch (error) {
      if (!(error instanceof ClockSkewError)) throw error;
      return this.started(...args);
    }
  }

  /** A client to give the server orders with. */
  admin(server: PrivateServer): Redis {
    return this.admins.admin(server);
  }

  async close(): Promise<void> {
    await Promise.all(this.issuers.map((issuer) => issuer.close()));
    this.admins.disconnect();
  }
}
