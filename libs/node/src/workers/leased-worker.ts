import { LeaseKeeper, StoreSession } from '@raindrop/core/internal';
import type { LeaseEvent, LeasePorts, LeaseStatus, SnowflakeGenerator, Tenure, WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import { workerIdentity } from '../system/worker-identity.js';
import { ExpiryWatch } from './expiry-watch.js';
import { LeaseListeners } from './lease-listeners.js';
import type { Worker, WorkerGuarantee } from '../ports/worker.js';

/** A worker id leased from a store. */
export class LeasedWorker implements Worker {
  private readonly keeper: LeaseKeeper;
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
    this.keeper = new LeaseKeeper(context, (event) => {
      this.listeners.tell(event);
      if (event.type === 'lease-renewed') this.warnOfExpiry(ports.clock.now());
    });
  }

  get tenure(): Tenure {
    return this.keeper;
  }

  /** @throws what {@link LeaseKeeper.start} throws */
  start(generator: SnowflakeGenerator): Promise<void> {
    this.keeper.reportedBy((lane) => generator.highest(this.keeper, lane));
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
