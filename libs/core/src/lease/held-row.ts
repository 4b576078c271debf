import type { Plan } from './reservation.js';
import type { WorkerRow } from './worker-store.js';

/** A write that was sent, whatever became of it. */
export interface Attempt {
  readonly token: string;
  readonly plan: Plan;
  /** Monotonic ms before it was sent. */
  readonly sentMs: number;
  /** How many suspicions there had been: a write sent before the last one does not clear it. */
  readonly suspicions: number;
}

/** What a read of our row says about it. */
export type Verdict =
  | { readonly kind: 'unchanged'; readonly row: WorkerRow }
  | { readonly kind: 'executed'; readonly row: WorkerRow; readonly attempt: Attempt }
  | { readonly kind: 'regressed'; readonly row: WorkerRow }
  | { readonly kind: 'lost'; readonly reason: string };

/** How many of our own past tokens are remembered, to know a database that went back in time. */
const REMEMBERED_TOKENS = 1_000;

/** The row we hold: which version and token it has by our knowledge, and which writes of ours may still change it. */
export class HeldRow {
  private attempts = new Map<string, Attempt>();
  private readonly past = new Set<string>();

  constructor(
    readonly id: number,
    public version: number,
    public token: string,
  ) {}

  /** True while a write was sent whose outcome is unknown. */
  get inDoubt(): boolean {
    return this.attempts.size > 0;
  }

  remember(attempt: Attempt): void {
    this.attempts.set(attempt.token, attempt);
  }

  /** The attempt is known to have been executed. */
  advance(attempt: Attempt): void {
    this.moveTo(this.version + 1, attempt.token);
  }

  /** Goes on from what a database shows that lost our later writes. */
  rewind(row: WorkerRow): void {
    this.moveTo(row.version, row.token);
  }

  judge(row: WorkerRow | undefined): Verdict {
    if (row === undefined) return { kind: 'lost', reason: 'its row was deleted' };
    if (row.version === this.version && row.token === this.token) return { kind: 'unchanged', row };
    const attempt = this.attempts.get(row.token);
    if (attempt !== undefined && row.version === this.version + 1) return { kind: 'executed', row, attempt };
    if (this.past.has(row.token)) return { kind: 'regressed', row };
    if (row.token === this.token) return { kind: 'lost', reason: 'another program wrote its row' };
    return { kind: 'lost', reason: `its row was taken by ${row.holder === '' ? 'somebody else' : row.holder}` };
  }

  private moveTo(version: number, token: string): void {
    this.past.add(this.token);
    if (this.past.size > REMEMBERED_TOKENS) this.past.delete(this.past.values().next().value!);
    this.version = version;
    this.token = token;
    this.past.delete(token);
    this.attempts = new Map();
  }
}
