import { StoreWorkerKeeper, StoreSession } from '@raindrop/core/internal';
import {
  type Layout,
  type LeaseEvent,
  type LeasePorts,
  type LeaseStatus,
  planLayout,
  type SnowflakeGenerator,
  type Tenure,
  type WorkerStore,
} from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import { workerIdentity } from '../system/worker-identity.js';
import type { Worker, WorkerGuarantee } from '../ports/worker.js';
import { tellListener } from '../system/listeners.js';

/** A worker id leased from a store. */
export class LeasedWorker implements Worker {
  private readonly keeper: StoreWorkerKeeper;
  private readonly listeners = new LeaseListeners();
  private readonly expiry: ExpiryWatch;

  constructor(
    readonly assigner: string,
    readonly guarantee: WorkerGuarantee,
    options: Pick<ResolvedSnowflakeOptions, 'layout' | 'lease' | 'servicePort' | 'hashCode'>,
    store: WorkerStore,
    ports: LeasePorts,
    isFirstLayout = false,
  ) {
    const { unitMs } = options.layout.layout;
    const context = {
      resolved: options.layout,
      isFirstLayout,
      options: options.lease,
      identity: workerIdentity({ ...options, ...options.lease, unitMs }),
      session: new StoreSession(store, ports.timers, options.lease.opTimeoutMs),
      ports,
    };
    this.expiry = new ExpiryWatch(options.layout.layout, ports.clock.now());
    this.keeper = new StoreWorkerKeeper(context, (event) => {
      this.listeners.tell(event);
      if (event.type === 'lease-renewed') this.warnOfExpiry(ports.clock.now());
    });
  }

  get tenure(): Tenure {
    return this.keeper;
  }

  /** @throws what {@link StoreWorkerKeeper.start} throws */
  start(generator: SnowflakeGenerator): Promise<void> {
    this.keeper.setHighestIssued((lane) => generator.highest(this.keeper, lane));
    return this.keeper.start();
  }

  status(): LeaseStatus {
    return this.keeper.status();
  }

  onEvent(listener: (event: LeaseEvent) => void): void {
    this.listeners.add(listener);
  }

  afterRestore(): void {
    this.keeper.afterRestore();
  }

  close(): Promise<void> {
    return this.keeper.close();
  }

  private warnOfExpiry(nowMs: number): void {
    const message = this.expiry.look(nowMs);
    if (message !== undefined) this.listeners.tell({ type: 'warning', message });
  }
}

/** Those who are told what happens to a worker. What one of them throws reaches neither the others nor the keeper. */
export class LeaseListeners {
  private readonly listeners: ((event: LeaseEvent) => void)[] = [];

  add(listener: (event: LeaseEvent) => void): void {
    this.listeners.push(listener);
  }

  readonly tell = (event: LeaseEvent): void => {
    for (const listener of this.listeners) tellListener(event, () => listener(event));
  };
}

const DAY_MS = 86_400_000;

/** Looks once a day whether the layout's last year has begun: a process may run for longer than the warning at its start holds. */
class ExpiryWatch {
  private lookedMs: number;

  /** @param nowMs the start, which has had its look */
  constructor(
    private readonly layout: Layout,
    nowMs: number,
  ) {
    this.lookedMs = nowMs;
  }

  /** What to warn of; undefined when there is nothing, or when the last look was less than a day ago. */
  look(nowMs: number): string | undefined {
    if (Math.abs(nowMs - this.lookedMs) < DAY_MS) return undefined;
    this.lookedMs = nowMs;
    const { warnings } = planLayout({ layout: this.layout }, nowMs);
    return warnings.find(({ code }) => code === 'EXPIRES_SOON')?.message;
  }
}
