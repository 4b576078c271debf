import type { ResolvedLeaseOptions } from './lease-options.js';

/** A look at everything whose jump makes a lease suspect. */
export interface Glance {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly processId: number;
}

/** Sees what happens to a process from outside: a wall clock put forward, a suspension, a copy of its memory. */
export class ClockWatch {
  private last: Glance | undefined;
  /** The smallest difference of wall and monotonic clock since the last confirmation. */
  private offset = 0;

  constructor(private readonly options: Pick<ResolvedLeaseOptions, 'maxClockSkewMs' | 'leaseMs'>) {}

  /** Takes the present as right: called when the database has confirmed lease and clock. */
  confirm(glance: Glance): void {
    this.last = glance;
    this.offset = glance.wallMs - glance.monotonicMs;
  }

  /** What has happened since the last look, in words; undefined when nothing has. */
  look(glance: Glance): string | undefined {
    const { last } = this;
    if (last === undefined) return undefined;
    const offset = glance.wallMs - glance.monotonicMs;
    const jump = offset - this.offset;
    this.last = glance;
    this.offset = Math.min(this.offset, offset);
    if (glance.processId !== last.processId) return 'this is a copy of another process';
    if (jump > this.options.maxClockSkewMs) return `the clock jumped forward by ${Math.round(jump)} ms`;
    const still = glance.monotonicMs - last.monotonicMs;
    if (still > this.options.leaseMs) return `the process stood still for ${Math.round(still)} ms`;
    return undefined;
  }
}
