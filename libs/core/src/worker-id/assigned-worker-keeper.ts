import type { Lane } from '../generator/tenure.js';
import { readClocks } from '../lease/admission.js';
import type { LeasePorts } from '../lease/lease-context.js';
import { type LeaseEvent, WorkerKeeper } from '../lease/worker-keeper.js';
import { type AssignedContext, AssignedLease, IssuedHistory, RestartWait } from './assigned-lease.js';
import { AssignerCalls, type WorkerIdAssigner, type WorkerIdRequest } from './worker-id-assigner.js';
import { NoWorkerIdError } from './worker-id-errors.js';

/** The set-up says how a worker id without an odometer is kept. */
export interface AssignedIdSetup {
  readonly assigner: WorkerIdAssigner;
  readonly request: WorkerIdRequest;
  /** The lane a tenure begins on. */
  readonly firstLane: Lane;
  /**
   * A tenure begins past the tick of the clock + this, and not before the clock has got there: as far may a former holder
   * of the id have issued. Ms; false for none.
   */
  readonly restartWaitMs: number | false;
  /** How long one call of the assigner may take, ms. */
  readonly opTimeoutMs: number;
}

/** Longer than this somebody should know why nothing happens. */
const LONG_WAIT_MS = 2_000;

/** Between two looks at an id that needs no renewal. */
const IDLE_MS = 3_600_000;

/**
 * Keeps a worker id that an assigner without odometers gave: asks for it, renews its lease where it has one, asks for
 * another when it was lost, gives it back. What the assigner guarantees is guaranteed, and no more.
 */
export class AssignedWorkerKeeper extends WorkerKeeper<AssignedLease> {
  readonly flipping = false;
  private readonly ctx: AssignedContext;
  private readonly history = new IssuedHistory();

  /** @param listener whatever it throws or rejects with stops nothing, and nobody hears of it */
  constructor(
    private readonly setup: AssignedIdSetup,
    ports: LeasePorts,
    listener: (event: LeaseEvent) => void,
  ) {
    super(ports, IDLE_MS, listener);
    const calls = new AssignerCalls(setup.assigner, setup.request, ports, setup.opTimeoutMs);
    this.ctx = { ports: this.ports, calls, hooks: this.hooks, lane: setup.firstLane };
  }

  /**
   * Asks for a worker id and settles when IDs can be issued with it, or with false when the assigner has none to give.
   * @throws WorkerIdAssignerError when the assigner failed or answered what cannot be used; NotReadyError when the clock
   * does not move on; ClosedError
   */
  async start(): Promise<boolean> {
    const lease = await this.ask();
    if (lease === undefined) return false;
    await this.beginLease(lease);
    if (lease.hasLease) this.renewals.start();
    const waitMs = lease.wait.leftMs(this.ports.clock.refresh());
    if (waitMs > LONG_WAIT_MS) {
      const message = `worker ${lease.workerId} may have been used up to now: the start waits ${Math.ceil(waitMs / 1_000)} s`;
      this.hooks.emit({ type: 'warning', message });
    }
    await lease.wait.pass(this.ports, () => this.isClosed);
    const refusal = this.admit(this.ports.clock.refresh());
    if (refusal !== undefined) throw refusal;
    return true;
  }

  /** Does nothing: an assigned worker id has no limit. */
  requestExtension(): void {}

  /** Does nothing: both lanes are there from the start. */
  requestFlip(): void {}

  protected async acquireLease(): Promise<AssignedLease> {
    const lease = await this.ask();
    if (lease === undefined) throw new NoWorkerIdError([this.setup.assigner.name]);
    return lease;
  }

  protected override async beginLease(lease: AssignedLease): Promise<void> {
    await super.beginLease(lease);
    for (const message of lease.warnings) this.hooks.emit({ type: 'warning', message });
  }

  /** Undefined when the assigner has none to give. @throws WorkerIdAssignerError */
  private async ask(): Promise<AssignedLease | undefined> {
    const { ports, calls } = this.ctx;
    const { restartWaitMs, request } = this.setup;
    const asked = readClocks(ports.clock.refresh(), ports);
    const assigned = await calls.acquire();
    if (assigned === undefined) return undefined;
    // Nothing is issued any more under the id that was held before.
    this.history.record(this.workerId, this.highestIssued());
    const wait = new RestartWait(request.layout, restartWaitMs, ports.clock.refresh());
    return new AssignedLease(this.ctx, assigned, asked, wait, this.history.of(assigned.workerId));
  }
}
