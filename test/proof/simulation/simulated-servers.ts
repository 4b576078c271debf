import { MemoryWorkerTable } from '@raindrop/core/internal';
import type { VirtualTime } from '../../support/engine/virtual-time.js';

/** By what a failover goes. */
export interface Failover {
  /** The server that takes over; `back` is the one before. Another one where it could not be told from what its copy knows. */
  readonly to: number | 'back';
  /** What of the last moments of the primary it lacks, ms. */
  readonly lackMs: number;
  /** The old primary goes on serving the sessions that it has. */
  readonly livesOn: boolean;
  /** Not one trace is left of the layouts that are lost. Only where a process of theirs comes back in time. */
  readonly forgetsLayouts?: boolean;
  /** A process records it at once. */
  readonly isRecorded?: boolean;
}

const NAMES = ['server A', 'server B', 'server C'];

export const SERVERS = NAMES.length;

/** One server as long as its data goes on: one that was rebuilt has the same name, and is another. */
export class SimulatedServer {
  isUp = true;
  private readonly history: { readonly atMs: number; readonly table: MemoryWorkerTable }[] = [];

  /** @param time the server's clock */
  constructor(
    readonly name: string,
    readonly time: VirtualTime,
    readonly table: MemoryWorkerTable,
  ) {
    table.term = name;
    this.keep();
  }

  /** Something may have been written. */
  keep(): void {
    this.history.push({ atMs: this.time.monotonicMs, table: copyOf(this.table) });
    if (this.history.length > 2_000) this.history.splice(0, 1_000);
  }

  /**
   * What a standby has that lacks everything from so long ago on. The first record of a server is not forgotten: a table
   * without one tells of no failover.
   */
  lacking(ms: number): MemoryWorkerTable {
    const endMs = this.time.monotonicMs - ms;
    const recorded = this.history.filter(({ table }) => (table.state.knownTerm ?? '') !== '');
    const possible = recorded.length > 0 ? recorded : this.history.slice(-1);
    return copyOf((possible.filter(({ atMs }) => atMs <= endMs).at(-1) ?? possible[0]!).table);
  }
}

/** Servers that take turns as the primary of one table. */
export class SimulatedServers {
  primary: SimulatedServer;
  /** The one before, as long as it lives. */
  former: SimulatedServer | undefined;
  private replacedAtMs = Number.NEGATIVE_INFINITY;

  /** @param offsets how far each server's clock is ahead of `time`, ms */
  constructor(
    table: MemoryWorkerTable,
    private readonly time: VirtualTime,
    private readonly offsets: readonly number[],
  ) {
    table.state = { ...table.state, knownTerm: nameOf(0) };
    this.primary = new SimulatedServer(nameOf(0), this.clockOf(0), table);
  }

  /** Where a session leads that has been opened for so long. */
  leadFrom(openingMs: number): SimulatedServer {
    const wasReplaced = this.time.monotonicMs - openingMs >= this.replacedAtMs;
    return wasReplaced || this.former?.isUp !== true ? this.primary : this.former;
  }

  failOver({ to, lackMs, livesOn, forgetsLayouts = false }: Failover): void {
    const table = this.primary.lacking(lackMs);
    if (!forgetsLayouts) for (const layout of this.primary.table.layouts) table.layouts.add(layout);
    // A server to which its copy has come back without a note of the one between: nothing tells it.
    let next = to === 'back' ? NAMES.indexOf(this.former?.name ?? '') : to;
    next = Math.max(0, next) % SERVERS;
    while (nameOf(next) === this.primary.name || nameOf(next) === table.state.knownTerm) next = (next + 1) % SERVERS;
    // Rebuilt, or out of the way.
    if (this.former !== undefined) this.former.isUp = false;
    this.former = this.primary;
    this.former.isUp = livesOn;
    this.replacedAtMs = this.time.monotonicMs;
    this.primary = new SimulatedServer(nameOf(next), this.clockOf(next), table);
  }

  /** The data are replaced, there or on another server; all others are stopped. */
  restore(table: MemoryWorkerTable, onto: number | 'same'): void {
    this.primary.isUp = false;
    if (this.former !== undefined) this.former.isUp = false;
    this.former = undefined;
    const index = onto === 'same' ? NAMES.indexOf(this.primary.name) : onto % SERVERS;
    this.primary = new SimulatedServer(nameOf(index), this.clockOf(index), table);
  }

  /**
   * The server before is the primary once more, with its own data; all others are stopped.
   * @returns since when it lacks what was written; undefined where there is none
   */
  goBack(): number | undefined {
    const { former, replacedAtMs } = this;
    if (former === undefined) return undefined;
    this.primary.isUp = false;
    former.isUp = true;
    this.primary = former;
    this.former = undefined;
    this.correctClock();
    return replacedAtMs;
  }

  /** The primary's clock is as far from `time` as it should be. */
  correctClock(): void {
    this.primary.time.setWall(this.time.wall + this.offsets[NAMES.indexOf(this.primary.name)]!);
  }

  private clockOf(index: number): VirtualTime {
    return this.time.another(this.time.wall + this.offsets[index]!);
  }
}

function nameOf(index: number): string {
  return NAMES[index]!;
}

function copyOf({ rows, layouts, state }: MemoryWorkerTable): MemoryWorkerTable {
  const copy = new MemoryWorkerTable();
  rows.forEach((row, id) => copy.rows.set(id, row));
  layouts.forEach((layout) => copy.layouts.add(layout));
  copy.state = state;
  return copy;
}
