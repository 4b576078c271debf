import { AssignedIdKeeper } from '@raindrop/core/internal';
import type {
  AssignedIdSetup,
  LeaseEvent,
  LeasePorts,
  LeaseStatus,
  SnowflakeGenerator,
  Tenure,
  WorkerIdGuarantee,
} from '@raindrop/core';
import { LeaseListeners } from './lease-listeners.js';
import type { Worker } from '../ports/worker.js';

/** A worker id from an assigner that keeps no odometers. */
export class AssignedWorker implements Worker {
  readonly assigner: string;
  readonly guarantee: WorkerIdGuarantee;
  private readonly keeper: AssignedIdKeeper;
  private readonly listeners = new LeaseListeners();

  constructor(setup: AssignedIdSetup, ports: LeasePorts) {
    this.assigner = setup.assigner.name;
    this.guarantee = setup.assigner.guarantee;
    this.keeper = new AssignedIdKeeper(setup, ports, this.listeners.tell);
  }

  get tenure(): Tenure {
    return this.keeper;
  }

  /** False when the assigner has no worker id to give. @throws what {@link AssignedIdKeeper.start} throws */
  async begin(): Promise<boolean> {
    try {
      return await this.keeper.start();
    } catch (error) {
      await this.keeper.close();
      throw error;
    }
  }

  /** It has begun already. */
  start(generator: SnowflakeGenerator): Promise<void> {
    this.keeper.reportedBy((lane) => generator.highest(this.keeper, lane));
    return Promise.resolve();
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
}
