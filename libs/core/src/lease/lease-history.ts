import { comparePositions, type Lane, maxPosition, type PerLane, type Position } from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import { raiseOdometersTo } from './failover-guard.js';
import { odometersOf, positionOf } from './odometer.js';
import { isForeign, type Odometer, type WorkerRow } from './worker-store.js';

/** Characters that stores keep of a holder. */
const HOLDER_LENGTH = 160;

const MARK = /, tenure ([\w-]{1,64})$/;

/** How far the row says that its last lease was granted. */
export interface GrantedLease {
  /** '' when the row names none: it was never used, was fenced, or was written without a history. */
  readonly leaseId: string;
  readonly reached: PerLane<Odometer>;
  /** Whether the row was given back. */
  readonly released: boolean;
}

/** The begin of one lease of one row. */
export interface BegunLease {
  /** Differs from that of every other lease. */
  readonly leaseId: string;
  readonly workerId: number;
  /** The layout's fingerprint. */
  readonly layout: string;
  /** The row's version after the write that acquired it. */
  readonly version: number;
  /** Nothing up to here was issued by this lease: it was granted before, or is older. */
  readonly base: PerLane<Odometer>;
  /** The row as it was found. */
  readonly previous: GrantedLease;
}

/**
 * Records which process held which worker id when. The keeper calls it after a lease has begun, and after the row was
 * given back. It waits for nothing, except at its own end for `close`, which must settle soon.
 */
export interface LeaseHistory {
  /** Must return at once, and not throw. */
  begin(begun: BegunLease): void;
  /** Must return at once, and not throw. @param end the odometers with which the row was given back */
  end(begun: BegunLease, end: PerLane<Odometer>): void;
  /** Settles when everything was recorded, or cannot be. Never rejects. */
  close(): Promise<void>;
}

/** The mark of a lease, which every write of it puts into the row, at the end of the holder. */
export interface LeaseMark {
  readonly leaseId: string;
  /** False in a copy of the process: its writes name no lease. */
  readonly isOurs: () => boolean;
}

/** The holder of a row, with the mark at its end. Example: `orders-1, pid 7, tenure kX3v...`. */
export function holderWithMark(holder: string, leaseId: string): string {
  const mark = `, tenure ${leaseId}`;
  return `${[...holder].slice(0, HOLDER_LENGTH - mark.length).join('')}${mark}`;
}

/** The holder of a row for people, without the mark of its lease. */
export function holderWithoutMark(holder: string): string {
  return holder.replace(MARK, '');
}

/** What a row says of the lease that wrote it last: nothing when another program has written it since. */
function grantedLeaseOf(row: WorkerRow): GrantedLease {
  const { holder, odometers, token } = row;
  const leaseId = isForeign(row) ? '' : (MARK.exec(holder)?.[1] ?? '');
  return { leaseId, reached: odometers, released: token === '' };
}

/**
 * The begin of a lease, as it is recorded.
 * @param acquired the row after the write that acquired it; where the lease starts, how the row was found, and before
 * when this process issued nothing, Unix ms
 */
export function begunLease(
  layout: Layout,
  { leaseId }: LeaseMark,
  acquired: Pick<WorkerRow, 'id' | 'version'>,
  { start, found, earliestMs }: { start: PerLane<Position>; found: WorkerRow; earliestMs: number },
): BegunLease {
  const { id: workerId, version } = acquired;
  // An ID does not tell when in its tick it was issued: the whole tick may be this lease's.
  const earliest: Position = { tick: layout.timeline.tickAt(earliestMs), sequence: -1 };
  const positions = [maxPosition(start[0], earliest), maxPosition(start[1], earliest)] as const;
  const base = odometersOf(positions, layout, [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  return { leaseId, workerId, layout: layout.fingerprint, version, base, previous: grantedLeaseOf(found) };
}

/** A lease as a history keeps it. */
export interface RecordedLease extends BegunLease {
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
export type IssuerVerdict<Recorded extends RecordedLease> =
  /**
   * This lease was granted the position, and no other one ever was. `held`: it still holds the row. `released`: it gave
   * the row back. `lapsed`: its lease ended without a release.
   */
  | { readonly kind: 'issued'; readonly lease: Recorded; readonly ending: 'held' | 'released' | 'lapsed' }
  /** Nothing proves which lease was granted it: that one, or its end, was not recorded. */
  | { readonly kind: 'not-recorded' }
  /** It lies below the first lease that is recorded, or none is. */
  | { readonly kind: 'before-history' }
  /** The row was never granted so far. */
  | { readonly kind: 'never-issued' };

/**
 * Finds the one lease that was granted a position. A lease is named only with a proof: its own release, the row as its
 * successor found it, or the row as it is now must show that this lease's grants reached the position. A lease that
 * was not recorded, or that a failover lost, therefore never gives its IDs to the one before it. A recorded release is
 * final: what lies after it was issued by another lease, whatever the row says.
 *
 * Example: A begins at 100 and crashes, B begins at 200 and is not recorded, C begins at 300. C has found B's mark in the
 * row. Nothing says how far A was granted, so 150 and 250 are `not-recorded`.
 *
 * @param leases of this worker id, in any order; those of other layouts can be successors
 * @param row as it is now; undefined when it is gone
 * @param lostUntilMs up to when no odometer of the row is believed, Unix ms; 0 when all are
 */
export function findIssuingLease<Recorded extends RecordedLease>(
  place: IssuedPlace,
  leases: readonly Recorded[],
  { row, nowMs, lostUntilMs = 0 }: { readonly row: WorkerRow | undefined; nowMs: number; lostUntilMs?: number },
): IssuerVerdict<Recorded> {
  const { layout, lane, position } = place;
  const believed = row && raiseOdometersTo(lostUntilMs, row);
  const now = believed && grantedLeaseOf(believed);
  // A failover or a fence has raised an odometer of a higher sequence: it does not say what the lease was granted.
  const reaches = ({ [lane]: reached }: PerLane<Odometer>): boolean =>
    reached.sequence <= layout.maxSequence && comparePositions(position, at(reached, layout)) <= 0;
  const seen = [...leases.map(({ previous }) => previous), ...(now === undefined ? [] : [now])];
  const proofOf = ({ leaseId, end }: Recorded): GrantedLease | undefined => {
    if (end !== undefined) return reaches(end) ? { leaseId, reached: end, released: true } : undefined;
    return seen.find((each) => each.leaseId === leaseId && reaches(each.reached));
  };
  const candidates = leases.filter(
    (each) => each.layout === layout.fingerprint && comparePositions(position, at(each.base[lane], layout)) > 0,
  );
  const [proven, ...more] = candidates.flatMap((lease) => {
    const proof = proofOf(lease);
    return proof === undefined ? [] : [{ lease, proof }];
  });
  if (proven !== undefined && more.length === 0) {
    const { lease, proof } = proven;
    const isHeld = proof === now && row !== undefined && nowMs < row.leaseUntilMs;
    return { kind: 'issued', lease, ending: proof.released ? 'released' : isHeld ? 'held' : 'lapsed' };
  }
  const isBeyond =
    believed === undefined
      ? leases.length === 0
      : !isForeign(believed) && isAfter(position, believed.odometers[lane], believed, layout);
  // The last commits of a row that was not given back may be lost: only the future is certain there.
  const certainFromMs = Math.max(lostUntilMs, believed === undefined || believed.token === '' ? 0 : nowMs);
  if (isBeyond && position.tick > layout.timeline.tickAt(certainFromMs)) return { kind: 'never-issued' };
  return { kind: candidates.length === 0 ? 'before-history' : 'not-recorded' };
}

function at({ ms, sequence }: Odometer, { timeline }: Layout): Position {
  return { tick: timeline.tickAt(ms), sequence };
}

/** Whether a position lies after a row's odometer; of another layout's odometer the whole tick counts. */
function isAfter(position: Position, odometer: Odometer, row: WorkerRow, layout: Layout): boolean {
  return comparePositions(position, positionOf(odometer, row, layout)) > 0;
}
