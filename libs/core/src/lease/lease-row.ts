import type { Lane, PerLane } from '../generator/tenure.js';
import { type LeaseContext, writeOf } from './lease-context.js';
import type { Grant } from './reservation.js';
import { holderWithoutMark } from './lease-history.js';
import type { Odometer, WorkerRow } from './worker-store.js';

/** A write that was sent; its outcome may be unknown. */
export interface SentWrite {
  readonly token: string;
  readonly grant: Grant;
  /** Monotonic ms before it was sent. */
  readonly sentMs: number;
  /** How many suspicions there had been by then: the write does not clear those that come later. */
  readonly suspicions: number;
}

/** The result of comparing a read of our row with our own knowledge of it. */
type Verdict =
  | { readonly kind: 'unchanged'; readonly row: WorkerRow }
  | { readonly kind: 'executed'; readonly row: WorkerRow; readonly write: SentWrite }
  | { readonly kind: 'regressed'; readonly row: WorkerRow }
  | { readonly kind: 'lost'; readonly reason: string };

/** How many of our own past tokens are remembered: one that comes back shows that the database went back in time. */
const REMEMBERED_TOKENS = 1_000;

/** The row that this process holds: its version and token as last known, and the writes that may still change it. */
export class LeaseRow {
  private sentWrites = new Map<string, SentWrite>();
  private readonly pastTokens = new Set<string>();

  constructor(
    readonly id: number,
    public version: number,
    public token: string,
  ) {}

  /** True while a write was sent whose outcome is unknown. */
  get isInDoubt(): boolean {
    return this.sentWrites.size > 0;
  }

  addSent(sent: SentWrite): void {
    this.sentWrites.set(sent.token, sent);
  }

  /** The write is known to have been executed. */
  advance(sent: SentWrite): void {
    this.moveTo(this.version + 1, sent.token);
  }

  /** The database has lost our later writes: goes on from the row that it shows. */
  rewind(row: WorkerRow): void {
    this.moveTo(row.version, row.token);
  }

  judge(row: WorkerRow | undefined): Verdict {
    if (row === undefined) return { kind: 'lost', reason: 'its row was deleted' };
    if (row.version === this.version && row.token === this.token) return { kind: 'unchanged', row };
    const sent = this.sentWrites.get(row.token);
    if (sent !== undefined && row.version === this.version + 1) return { kind: 'executed', row, write: sent };
    if (this.pastTokens.has(row.token)) return { kind: 'regressed', row };
    if (row.token === this.token) return { kind: 'lost', reason: 'another program wrote its row' };
    return { kind: 'lost', reason: `its row was taken by ${holderWithoutMark(row.holder) || 'another process'}` };
  }

  private moveTo(version: number, token: string): void {
    this.pastTokens.add(this.token);
    if (this.pastTokens.size > REMEMBERED_TOKENS) this.pastTokens.delete(this.pastTokens.values().next().value!);
    this.version = version;
    this.token = token;
    this.pastTokens.delete(token);
    this.sentWrites = new Map();
  }
}

/** The row as it is given back. */
interface ReleasedRow {
  readonly lane: Lane;
  /** Called once the outcome of every sent write is known. */
  readonly odometers: () => PerLane<Odometer>;
  readonly layout?: string;
  /** Called with a write of unknown outcome that turned out to have been executed. */
  readonly onExecuted?: (sent: SentWrite) => void;
}

/**
 * Gives a row back. The caller has stopped issuing before, for good: the release may be executed even when its answer
 * is lost.
 *
 * @returns false when the row could not be given back; it comes free when its lease ends
 */
export async function releaseRow(ctx: LeaseContext, leaseRow: LeaseRow, released: ReleasedRow): Promise<boolean> {
  for (const tries of [1, 2]) {
    try {
      if (leaseRow.isInDoubt || tries > 1) {
        const { row } = await ctx.session.run('re-reading a worker', (store) => store.readRow(leaseRow.id));
        const verdict = leaseRow.judge(row);
        // Free, and one version after ours: the row shows our own release, whose answer was lost.
        if (row?.token === '' && row.version === leaseRow.version + 1) return true;
        if (verdict.kind === 'lost') return false;
        if (verdict.kind === 'executed') {
          leaseRow.advance(verdict.write);
          released.onExecuted?.(verdict.write);
        }
        if (verdict.kind === 'regressed') leaseRow.rewind(verdict.row);
      }
      const expected = { version: leaseRow.version, token: leaseRow.token };
      const { lane, layout } = released;
      const write = writeOf(ctx, {
        id: leaseRow.id,
        expected,
        token: '',
        lane,
        odometers: released.odometers(),
        ...(layout === undefined ? {} : { layout }),
      });
      if (await ctx.session.run('releasing a worker', (store) => store.write(write))) return true;
    } catch {
      // It is tried once more; after that the row comes free when its lease ends.
    }
  }
  return false;
}
