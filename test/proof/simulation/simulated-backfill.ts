import { RaindropError } from '@raindrop/core';
import { type PastContext, type PastIds, reservePast } from '../../../libs/core/src/lease/past-ids.js';
import type { BackfillWish } from './actions.js';
import { type Birth, SimulatedProcess } from './simulated-process.js';

/** A job that reserves a stretch of the past, and issues there as long as it lives. */
export class SimulatedBackfill {
  readonly process: SimulatedProcess;
  private ids: PastIds | undefined;
  private atMs: number;
  private readonly stepMs: number;

  constructor(
    private readonly birth: Birth,
    { agoMs, forMs, stepMs, faults }: BackfillWish,
    onReserved: () => void,
  ) {
    this.process = new SimulatedProcess(birth);
    const { bench, store } = this.process;
    for (const { call, fault } of faults) store.next(call, ...fault);
    const { epochMs, unitMs } = this.process.layout;
    const fromMs = Math.max(bench.time.wall - agoMs, epochMs + unitMs);
    const toMs = Math.min(fromMs + forMs, bench.time.wall);
    this.atMs = fromMs;
    this.stepMs = stepMs;
    this.reserve({ ...bench.context, past: { fromMs, toMs } }).then(
      (ids) => {
        this.ids = ids;
        onReserved();
        birth.say?.(
          `  ${birth.name}: reserved worker ${ids.workerId}, lane ${ids.lane}, from ${ids.from.toISOString()}`,
        );
      },
      (error: unknown) => birth.onRefusal(codeOf(error)),
    );
  }

  /** For mutants: how it comes to its IDs. */
  reserve(context: PastContext): Promise<PastIds> {
    return reservePast(context, 2 * this.process.layout.unitMs);
  }

  /** True once it may issue. */
  get isReserved(): boolean {
    return this.ids !== undefined;
  }

  kill(): void {
    this.process.kill();
  }

  /** Some IDs, each a little later than the one before. */
  issue(count: number): void {
    const { ids, birth, process } = this;
    if (ids === undefined || !process.canRun) return;
    for (let each = 0; each < count && this.atMs <= ids.to.getTime(); each++, this.atMs += this.stepMs) {
      try {
        birth.invariants.issued(process, undefined, ids.at(this.atMs), false);
      } catch (error) {
        birth.onRefusal(codeOf(error));
      }
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof RaindropError ? `backfill: ${error.errorCode}` : `untyped: ${String(error)}`;
}
