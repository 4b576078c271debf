import { comparePositions, type Lane, type PerLane, type Position } from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import type { LeaseContext } from './lease-context.js';
import { positionOf } from './odometer.js';
import type { Odometer, WorkerRow } from './worker-store.js';

/** Characters that stores keep of a holder. */
const HOLDER_LENGTH = 160;

const MARK = /, tenure ([\w-]{1,64})$/;

/** How far the row says that its last tenure was granted. */
export interface GrantedTenure {
  /** '' when the row names none: it was never used, was fenced, or was written without a history. */
  readonly tenure: string;
  readonly reached: PerLane<Odometer>;
  /** Whether the row was given back. */
  readonly released: boolean;
}

/** The begin of one lease of one row. */
export interface BegunTenure {
  /** Differs from that of every other tenure. */
  readonly tenure: string;
  readonly workerId: number;
  /** The layout's fingerprint. */
  readonly layout: string;
  /** The row's version after the write that acquired it. */
  readonly version: number;
  /** Everything up to here was granted before. */
  readonly base: PerLane<Odometer>;
  /** The row as it was found. */
  readonly previous: GrantedTenure;
}

/**
 * Records which process held which worker id when. The keeper calls it after a lease has begun, and after the row was
 * given back. It waits for nothing, except at its own end for `close`, which must settle soon.
 */
export interface TenureLog {
  /** Must return at once, and not throw. */
  begin(begun: BegunTenure): void;
  /** Must return at once, and not throw. @param end the odometers with which the row was given back */
  end(tenure: string, end: PerLane<Odometer>): void;
  /** Settles when everything was recorded, or cannot be. Never rejects. */
  close(): Promise<void>;
}

/**
 * The context of the next tenure. Every write of the tenure, the release too, puts its mark into the row, at the end of
 * the holder: the next process reads from the row which tenure came before. Example: `orders-1, pid 7, tenure kX3v...`.
 */
export function markedContext(ctx: LeaseContext): LeaseContext & { readonly tenure: string } {
  const tenure = ctx.ports.randomness.token();
  const mark = `, tenure ${tenure}`;
  const holder = `${ctx.identity.holder.slice(0, HOLDER_LENGTH - mark.length)}${mark}`;
  return { ...ctx, tenure, identity: { ...ctx.identity, holder } };
}

/** What a row says of the tenure that wrote it last. */
export function grantedTenureOf({ holder, odometers, token }: WorkerRow): GrantedTenure {
  return { tenure: MARK.exec(holder)?.[1] ?? '', reached: odometers, released: token === '' };
}

/** A tenure as a history keeps it. */
export interface RecordedTenure extends BegunTenure {
  /** The odometers with which the row was given back; undefined when no end was recorded. */
  readonly end?: PerLane<Odometer> | undefined;
}

/** A position of one worker and layout. */
export interface IssuedPlace {
  readonly layout: Layout;
  readonly workerId: number;
  readonly lane: Lane;
  readonly position: Position;
}

/** The finding about one position. */
export type TenureVerdict<Tenure extends RecordedTenure> =
  /**
   * This tenure was granted the position, and no other one ever was. `held`: it still holds the row. `released`: it gave
   * the row back. `lapsed`: its lease ended without a release.
   */
  | { readonly kind: 'issued'; readonly tenure: Tenure; readonly ending: 'held' | 'released' | 'lapsed' }
  /** Nothing proves which tenure was granted it: that one, or its end, was not recorded. */
  | { readonly kind: 'not-recorded' }
  /** It lies below the first tenure that is recorded, or none is. */
  | { readonly kind: 'before-history' }
  /** The row was never granted so far. */
  | { readonly kind: 'never-issued' };

/**
 * Finds the tenure that was granted a position. A tenure is named only with a proof: its own release, the row as its
 * successor found it, or the row as it is now must show that this tenure's grants reached the position. A tenure that
 * was not recorded, or that a failover lost, therefore never gives its IDs to the one before it.
 *
 * Example: A begins at 100 and crashes, B begins at 200 and is not recorded, C begins at 300. C has found B's mark in the
 * row. Nothing says how far A was granted, so 150 and 250 are `not-recorded`.
 *
 * @param tenures of this worker id, in any order; those of other layouts can be successors
 * @param row as it is now, not raised after failovers; undefined when it is gone
 * @param lostUntilMs up to when grants may be lost: a position before it may have been issued although the row does not
 * say so
 */
export function findTenure<Tenure extends RecordedTenure>(
  place: IssuedPlace,
  tenures: readonly Tenure[],
  { row, nowMs, lostUntilMs = 0 }: { readonly row: WorkerRow | undefined; nowMs: number; lostUntilMs?: number },
): TenureVerdict<Tenure> {
  const { layout, lane, position } = place;
  const now = row && grantedTenureOf(row);
  const [tenure] = tenures
    .filter((each) => each.layout === layout.fingerprint && comparePositions(position, at(each.base[lane], layout)) > 0)
    .sort((a, b) => comparePositions(at(b.base[lane], layout), at(a.base[lane], layout)) || b.version - a.version);
  // A failover or a fence has raised an odometer of a higher sequence: it does not say what the tenure was granted.
  const reaches = ({ [lane]: reached }: PerLane<Odometer>): boolean =>
    reached.sequence <= layout.maxSequence && comparePositions(position, at(reached, layout)) <= 0;
  if (tenure?.end !== undefined && reaches(tenure.end)) return { kind: 'issued', tenure, ending: 'released' };
  if (tenure !== undefined) {
    const seen = [...tenures.map(({ previous }) => previous), ...(now === undefined ? [] : [now])];
    const proof = seen.find((each) => each.tenure === tenure.tenure && reaches(each.reached));
    const isHeld = proof === now && row !== undefined && nowMs < row.leaseUntilMs;
    if (proof !== undefined) {
      return { kind: 'issued', tenure, ending: proof.released ? 'released' : isHeld ? 'held' : 'lapsed' };
    }
  }
  const isBeyond = row === undefined ? tenures.length === 0 : isAfter(position, row.odometers[lane], row, layout);
  if (isBeyond && position.tick > layout.timeline.tickAt(lostUntilMs)) return { kind: 'never-issued' };
  return { kind: tenure === undefined ? 'before-history' : 'not-recorded' };
}

function at({ ms, sequence }: Odometer, { timeline }: Layout): Position {
  return { tick: timeline.tickAt(ms), sequence };
}

/** Whether a position lies after a row's odometer; of another layout's odometer the whole tick counts. */
function isAfter(position: Position, odometer: Odometer, row: WorkerRow, layout: Layout): boolean {
  return comparePositions(position, positionOf(odometer, row, layout)) > 0;
}
