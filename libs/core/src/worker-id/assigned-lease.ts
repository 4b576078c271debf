import { maxPosition, type PerLane, type Position } from '../generator/position.js';
import type { RaindropError } from '../raindrop-error.js';
import type { LeasePorts } from '../lease/lease-context.js';
import { LeaseLostError, NotReadyError } from '../lease/lease-errors.js';
import type { RestartWait } from './restart-wait.js';
import type { AssignedWorkerId } from './worker-id-assigner.js';

/** As long as the generator may rely on one answer: until the clock's value changes. */
const CLOCK_GRAIN_MS = 1;

/**
 * A moment by both clocks: the monotonic one stands still while the host sleeps, and the other one may be set back. The
 * earlier end counts.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function momentOf({ clock, monotonic }: LeasePorts): Moment {
  return { monotonicMs: monotonic.now(), wallMs: clock.refresh() };
}

/** One tenure of a worker id that was assigned: until when it may be used, by whom, and from where on. */
export class AssignedLease {
  readonly base: PerLane<Position>;
  private readonly processId: number;
  private end: Moment;

  /**
   * @param sent the moment before the id was asked for
   * @param own how far this process has issued under it before
   */
  constructor(
    private readonly ports: LeasePorts,
    public assigned: AssignedWorkerId,
    sent: Moment,
    readonly wait: RestartWait,
    own: PerLane<Position>,
  ) {
    this.base = [maxPosition(wait.base, own[0]), maxPosition(wait.base, own[1])];
    this.processId = ports.processId();
    this.end = endOf(assigned, sent);
  }

  get workerId(): number {
    return this.assigned.workerId;
  }

  get isLapsed(): boolean {
    return this.leftMs <= CLOCK_GRAIN_MS;
  }

  /** How long it may be used without a renewal, ms. */
  get leftMs(): number {
    if (this.assigned.leaseMs === undefined) return Number.POSITIVE_INFINITY;
    const { monotonicMs, wallMs } = momentOf(this.ports);
    return Math.min(this.end.monotonicMs - monotonicMs, this.end.wallMs - wallMs);
  }

  /** False in a copy of the process that was given the id. */
  get isOfThisProcess(): boolean {
    return this.ports.processId() === this.processId;
  }

  /** Undefined when IDs may be issued now. */
  refusal(wallMs: number): RaindropError | undefined {
    if (this.isLapsed) return new LeaseLostError(this.workerId, 'its lease has run out without a renewal');
    if (this.wait.hasPassed(wallMs)) return undefined;
    return new NotReadyError(`a former holder of worker ${this.workerId} may have issued up to here`);
  }

  /** False when it ran out before the answer came: others may have had the id since, so it is not revived. */
  extend(renewed: AssignedWorkerId, sent: Moment): boolean {
    if (this.isLapsed || renewed.workerId !== this.workerId) return false;
    this.assigned = renewed;
    this.end = endOf(renewed, sent);
    return true;
  }
}

function endOf({ leaseMs = Number.POSITIVE_INFINITY }: AssignedWorkerId, { monotonicMs, wallMs }: Moment): Moment {
  return { monotonicMs: monotonicMs + leaseMs, wallMs: wallMs + leaseMs };
}
