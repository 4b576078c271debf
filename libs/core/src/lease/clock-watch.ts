import type { LeasePorts } from './lease-context.js';
import type { ResolvedLeaseOptions } from './lease-options.js';

/** A look at everything whose jump makes a lease suspect. */
export interface Glance {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly processId: number;
}

/** A glance at this moment, when the wall clock reads `wallMs`. */
export function glanceAt(wallMs: number, { monotonic, processId }: LeasePorts): Glance {
  return { wallMs, monotonicMs: monotonic.now(), processId: processId() };
}

/** Sees what happens to a process from outside: a wall clock put forward, a suspension, a copy of its memory. */
export class ClockWatch {
  private last: Glance;
  /** The smallest difference of wall and monotonic clock since it was last known to be right. */
  private offset: number;

  constructor(
    private readonly options: Pick<ResolvedLeaseOptions, 'maxClockSkewMs' | 'leaseMs'>,
    trusted: Glance,
  ) {
    this.last = trusted;
    this.offset = trusted.wallMs - trusted.monotonicMs;
  }

  /** Takes the present as right: called when the clock was held against the database's. */
  trust(glance: Glance): void {
    this.last = glance;
    this.offset = glance.wallMs - glance.monotonicMs;
  }

  /** What has happened since the last look, in words, once; undefined when nothing has. */
  look(glance: Glance): string | undefined {
    const { last } = this;
    const offset = glance.wallMs - glance.monotonicMs;
    const jump = offset - this.offset;
    const jumped = jump > this.options.maxClockSkewMs;
    this.last = glance;
    this.offset = jumped ? offset : Math.min(this.offset, offset);
    if (glance.processId !== last.processId) return 'its process was copied or restored from a snapshot';
    if (jumped) return `the clock jumped forward by ${Math.round(jump)} ms`;
    const still = glance.monotonicMs - last.monotonicMs;
    if (still > this.options.leaseMs) return `the process stood still for ${Math.round(still)} ms`;
    return undefined;
  }
}
