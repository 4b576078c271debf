import type { Lane, PerLane } from '../generator/tenure.js';
import { type LeaseContext, writeOf } from './lease-context.js';
import type { Plan } from './reservation.js';
import type { Odometer, WorkerRow } from './worker-store.js';

/** A write that was sent, whatever became of it. */
export interface SentWrite {
  readonly token: string;
  readonly plan: Plan;
  /** Monotonic ms before it was sent. */
  readonly sentMs: number;
  /** How many suspicions there had been: a write sent before the last one does not clear it. */
  readonly suspicions: number;
}

/** What a read of our row says about it. */
type Verdict =
  | { readonly kind: 'unchanged'; readonly row: WorkerRow }
  | { readonly kind: 'executed'; readonly row: WorkerRow; readonly write: SentWrite }
  | { readonly kind: 'regressed'; readonly row: WorkerRow }
  | { readonly kind: 'lost'; readonly reason: string };

/** How many of our own past tokens are remembered, to know a database that went back in time. */
const REMEMBERED_TOKENS = 1_000;

/** The row we hold: which version and token it has by our knowledge, and which writes of ours may still change it. */
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

  /** The attempt is known to have been executed. */
  advance(sent: SentWrite): void {
    this.moveTo(this.version + 1, sent.token);
  }

  /** Goes on from what a database shows that lost our later writes. */
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
    return { kind: 'lost', reason: `its row was taken by ${row.holder === '' ? 'somebody else' : row.holder}` };
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

/** What a row is to say when it has been given back. */
interface ReleasedRow {
  readonly lane: Lane;
  /** Asked for after every doubt is resolved. */
  readonly odometers: () => PerLane<Odometer>;
  readonly layout?: string;
  /** Told of a write in doubt that turned out to have been executed. */
  readonly onExecuted?: (sent: SentWrite) => void;
}

/**
 * Gives a row back, with the odometers at what was really issued. The caller has stopped issuing before, for good:
 * a release may be executed whatever is answered.
 *
 * @returns false when the row could not be given back; it comes free when its lease ends
 */
export async function releaseRow(ctx: LeaseContext, leaseRow: LeaseRow, released: ReleasedRow): Promise<boolean> {
  for (const tries of [1, 2]) {
    try {
      if (leaseRow.isInDoubt || tries > 1) {
        const { row } = await ctx.session.run('re-reading a worker', (store) => store.readRow(leaseRow.id));
        const verdict = leaseRow.judge(row);
        // Free, and next in line after us: it was our own statement, whose answer was lost.
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
      // Tried once more; after that the row comes free by itself.
    }
  }
  return false;
}
