import { type FenceRequest, type Layout, RaindropError, ClockBehindError, ClockSkewError } from '@raindrop/core';
import { MemoryWorkerStore, resolveLeaseOptions, sessionAgesOf } from '@raindrop/core/internal';
import type { ResolvedLeaseOptions } from '../../../libs/core/src/lease/lease-options.js';
import type { Invariants } from './invariants.js';
import type { Setup } from './plan.js';
import type { Restore } from './simulated-backups.js';
import type { SimulatedDatabase } from './simulated-database.js';

/** What an operator does, in this order: nothing reaches the store before it is over. */
export interface Operation {
  /** Instead of being killed these processes are cut off: they issue until their leases are over. */
  readonly cutOff: readonly { readonly process: number; readonly fault: 'refused' | 'hangs' }[];
  /** What he restores; nothing, where he only fences. */
  readonly restore?: Restore | 'former primary';
  readonly fencing: Fencing;
}

/** How an operator fences. */
export interface Fencing {
  /** One fence with the lease options of each of these services, in this order. The longest horizon is among them. */
  readonly services: readonly ('usual' | 'other')[];
  /** How far the clocks of his host and of the store are ahead when he begins, ms. */
  readonly hostAheadMs: number;
  readonly storeAheadMs: number;
  /** Where a clock was ahead, and no process lives: he waits, or states up to when IDs exist. */
  readonly ifAhead: 'wait' | 'state';
  /** The layout of the release that starts then. */
  readonly layout: number;
  /** He states that this layout alone has served since the backup, if it is so. */
  readonly statesLayout: boolean;
}

/** A fence that is refused so often is given up. */
const MOST_TRIES = 6;

/** Does what docs/operations.md says of a database that was restored. Mutants change his methods. */
export class SimulatedOperator {
  /** By how much his host's clock is wrong, ms. */
  private hostAheadMs = 0;
  private isStoreWrong = false;

  constructor(
    private readonly database: SimulatedDatabase,
    private readonly invariants: Invariants,
    private readonly setup: Pick<Setup, 'lease' | 'otherLease'>,
    private readonly layouts: readonly Layout[],
    /** The layouts of the processes that were cut off, and live. */
    private readonly living: () => readonly Layout[],
    private readonly note: (what: string) => void,
  ) {}

  async fence(fencing: Fencing): Promise<void> {
    this.setClocksWrong(fencing);
    const starting = this.layouts[fencing.layout % this.layouts.length]!.fingerprint;
    const others = this.served().filter((layout) => layout !== starting);
    const onlyThisLayout = fencing.statesLayout && this.hasServedAlone(others);
    if (onlyThisLayout) this.note('one layout stated');
    for (const service of this.servicesOf(fencing)) {
      const lease = resolveLeaseOptions(service === 'usual' ? this.setup.lease : this.setup.otherLease);
      for (const fingerprint of onlyThisLayout ? [starting] : this.named(starting, others)) {
        const store = new MemoryWorkerStore(
          this.database.presentTable,
          () => this.database.presentWall,
          this.database.servers === undefined ? 0 : sessionAgesOf(lease).reachMs,
        );
        await this.fenceOnce(store, lease, onlyThisLayout ? { servedAlone: starting } : {}, fencing.ifAhead);
        await store.rememberLayout(fingerprint);
      }
    }
    this.database.wasFenced();
    this.correctClocks();
  }

  /** For mutants: with the options of which services he fences. */
  servicesOf({ services }: Fencing): Fencing['services'] {
    return services;
  }

  /** For mutants: whether no other layout has issued what the store lacks. */
  hasServedAlone(others: readonly string[]): boolean {
    return others.length === 0 && this.database.lack?.hasState !== false;
  }

  /** For mutants: the layouts with whose options he fences; each is noted. */
  named(starting: string, others: readonly string[]): readonly string[] {
    return [starting, ...others];
  }

  /** For mutants: as a store does that has a clock of its own. @throws ClockSkewError */
  compareClocks(maxClockSkewMs: number): void {
    const skewMs = this.database.trueWall + this.hostAheadMs - this.database.presentWall;
    if (Math.abs(skewMs) > maxClockSkewMs) throw new ClockSkewError(skewMs, maxClockSkewMs);
  }

  /** For mutants: the latest time of all IDs, Unix ms. */
  issuedUntil(): number {
    return this.invariants.latestIssuedMs;
  }

  private async fenceOnce(
    store: MemoryWorkerStore,
    { maxClockSkewMs, horizonMs }: ResolvedLeaseOptions,
    statements: Partial<FenceRequest>,
    ifAhead: Fencing['ifAhead'],
  ): Promise<void> {
    let request: FenceRequest = { aheadMs: horizonMs + 3 * maxClockSkewMs, maxClockSkewMs, ...statements };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        this.compareClocks(maxClockSkewMs);
        await store.fence(request);
        this.note('fence');
        return;
      } catch (error) {
        if (!(error instanceof RaindropError)) throw error;
        this.note(`fence refused: ${error.errorCode}`);
        if (!(error instanceof ClockBehindError) || this.isStoreWrong) this.correctClocks();
        else if (ifAhead === 'wait' || this.living().length > 0) await this.waitFor(error);
        else {
          this.note('last time stated');
          request = { ...request, issuedUntilMs: this.issuedUntil() };
        }
      }
    }
    throw new TypeError('A fence is refused again and again.');
  }

  private waitFor({ laterMs, nowMs }: ClockBehindError): Promise<void> {
    this.note('wait before a fence');
    return this.database.advance(laterMs - nowMs + 1);
  }

  private setClocksWrong({ hostAheadMs, storeAheadMs }: Fencing): void {
    const { maxClockSkewMs } = resolveLeaseOptions(this.setup.lease);
    const areAlike = Math.abs(hostAheadMs - storeAheadMs) <= 2 * maxClockSkewMs;
    // What no time in the store shows cannot be seen: before all else the operator looks at the clocks.
    if (hostAheadMs < 0 && storeAheadMs < 0 && areAlike && !this.isShown(storeAheadMs, maxClockSkewMs)) {
      this.note('wrong clocks that nothing shows');
      return;
    }
    if (hostAheadMs !== 0) this.note('fence by a wrong host clock');
    if (storeAheadMs !== 0) this.note('fence by a wrong store clock');
    this.hostAheadMs = hostAheadMs;
    this.isStoreWrong = storeAheadMs !== 0;
    this.database.stepStore(storeAheadMs);
  }

  private isShown(storeAheadMs: number, maxClockSkewMs: number): boolean {
    const latestMs = this.database.presentWall + storeAheadMs + 2 * maxClockSkewMs;
    return [...this.database.presentTable.rows.values()].some(({ heartbeatMs }) => heartbeatMs > latestMs);
  }

  private correctClocks(): void {
    this.hostAheadMs = 0;
    if (this.isStoreWrong) this.database.correctStore();
    this.isStoreWrong = false;
  }

  /** The layouts that have issued what the store may lack. */
  private served(): string[] {
    const living = this.living().map(({ fingerprint }) => fingerprint);
    return [...new Set([...this.invariants.servedSince(this.database.lack?.sinceMs ?? 0), ...living])].sort();
  }
}
