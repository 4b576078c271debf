import type { Lane, PerLane } from '../generator/tenure.js';
import type { WorkerRange } from '../layout/layout-options.js';
import type { MonotonicClock } from '../ports.js';
import type { RaindropError } from '../raindrop-error.js';

/** A position without a layout: the Unix ms at which its tick starts, and the sequence. */
export interface Odometer {
  readonly ms: number;
  readonly sequence: number;
}

/** One worker id's row. All times are Unix ms by the database's clock. */
export interface WorkerRow {
  readonly id: number;
  /** Goes up with every write, of any program. */
  readonly version: number;
  /** `version` after the last write of ours; different when another program has written the row since. */
  readonly ownVersion: number;
  /** '' when free; otherwise a new random value at every write. */
  readonly token: string;
  /** For people; nothing is decided by it. */
  readonly holder: string;
  /** The fingerprint of the layout of the last holder. */
  readonly layout: string;
  readonly leaseUntilMs: number;
  readonly lane: Lane;
  /** The highest positions ever granted. */
  readonly odometers: PerLane<Odometer>;
  /** The last holder's code; '' when the row was never used. */
  readonly code: string;
  readonly heartbeatMs: number;
}

/** Everything the table says at one moment. */
export interface WorkerTable {
  /** The database's clock. */
  readonly nowMs: number;
  /** Every row that is not marked deleted, in any order. */
  readonly rows: readonly WorkerRow[];
  /** The rows marked deleted: no process may take one, and positions that were granted there still count. */
  readonly deleted: readonly WorkerRow[];
  /** The fingerprint of every layout that ever issued IDs from this table. */
  readonly layouts: readonly string[];
  /**
   * Until when no row may be acquired, Unix ms, because the store may have lost writes that it had acknowledged, or was
   * fenced: a start waits for that moment without limit, and begins after its tick. No odometer is believed below it.
   * Left out when nothing was lost. SQL, etcd and NATS tell it. Example: commits lost at 12:00:00, a reach of 218 s:
   * 12:03:38.
   */
  readonly barredUntilMs?: number;
  /**
   * In place of `barredUntilMs`: no odometer is believed below it, and a start waits no longer than its
   * `waitForWorkerMs`, because until then it finds the rows used up. Redis tells it.
   */
  readonly lostUntilMs?: number;
  /** Left out where the last fence stated nothing of a layout. */
  readonly servedAlone?: ServedAlone;
}

/** What an operator has stated at the last fence. */
export interface ServedAlone {
  /** The layout, as a fingerprint, that alone has issued IDs which the rows did not show then. */
  readonly layout: string;
  /** Up to when other layouts may have issued that no row shows, for this layout, Unix ms: by losses and earlier fences. */
  readonly lostUntilMs: number;
}

/** Every layout that the table knows, as fingerprints. */
export interface KnownLayouts {
  /** Those that ever issued IDs from this table. */
  readonly layouts: readonly string[];
  /** Those of the last holders of all rows, deleted ones too. */
  readonly layoutsOfRows: readonly string[];
}

/** Says which rows a sample is taken from. */
export interface SampleRequest {
  readonly workers: WorkerRange;
  /** The worker id to begin with among equals; after the highest one comes the lowest. */
  readonly from: number;
  readonly atMost: number;
  /** Rows whose lease ended at least so many ms ago count as free; with `INCLUDE_HELD` held rows do, too. */
  readonly graceMs: number;
}

/** The grace with which held rows count as free. */
export const INCLUDE_HELD = Number.MIN_SAFE_INTEGER;

/** A few rows that may be free, and a summary of all others, as they were at one moment. */
export interface WorkerSample extends KnownLayouts {
  /** The database's clock. */
  readonly nowMs: number;
  /**
   * Rows of the range that no process holds and no other program wrote last, in the order in which a start takes them:
   * first those that were given back or never used, which are equal; then the longest expired. Among equals the number
   * that is asked for comes first, then the next one. Example: rows 1 and 2 expired 5 and 9 s ago, row 3 was given back,
   * row 4 was never used, and 4 is asked for: 4, 3, 2, 1. SQL and Lua say so in their own words; the cases of
   * `workerStoreContract()` hold every store to it. When there is no row, the whole table may still have some.
   */
  readonly rows: readonly WorkerRow[];
  /** How many rows the range has that are not marked deleted, and how many of them are held. */
  readonly total: number;
  readonly live: number;
  /** How many rows of the whole table another program wrote last. */
  readonly foreign: number;
  /** As in {@link WorkerTable}. */
  readonly barredUntilMs?: number;
}

/** The one statement that acquires, renews, extends, flips, heals and releases. */
export interface WorkerWrite {
  readonly id: number;
  /** Written only if the row still has this version and this token; the new version is one more. */
  readonly expected: { readonly version: number; readonly token: string };
  /** '' gives the row back. */
  readonly token: string;
  readonly holder: string;
  readonly layout: string;
  readonly lane: Lane;
  readonly odometers: PerLane<Odometer>;
  readonly code: string;
  /** The original's number of the unit, 1-5; 0 for units it does not have. */
  readonly timeUnit: number;
  /** `lease_until` becomes the database's now plus this. */
  readonly leaseMs: number;
}

/** What an operator knows of a store that is to be fenced; see fence.ts. */
export interface FenceRequest {
  /**
   * How far grants of any process reach past the store's clock, ms: the longest `horizonMs` + 3 times `maxClockSkewMs`, see
   * grantReachMs.
   */
  readonly aheadMs: number;
  /** How far the operator's clock, and the times in the store, may be from the store's clock, ms. */
  readonly maxClockSkewMs: number;
  /**
   * The operator states that no process has issued an ID of a later time, Unix ms. Later times in the store then count for
   * nothing, and all rows are barred up to this moment at least.
   */
  readonly issuedUntilMs?: number;
  /** The layout, as a fingerprint, of which the operator states that it alone has issued IDs that the rows do not show. */
  readonly servedAlone?: string;
}

/**
 * Keeps worker rows. Every call goes to the primary, outside any transaction of the application, and is settled
 * only when the database has acknowledged it. How to write one: docs/contributing/your-own-store.md.
 */
export interface WorkerStore {
  /** Creates the tables and the rows of the range where they are missing; any number of processes may do so at once. */
  prepare(workers: WorkerRange): Promise<void>;
  /**
   * For stores far away: `prepare` and then `readSample` in one look, where `prepare` would change nothing. Left out
   * where two calls cost no more.
   * @returns undefined where anything is missing, or has to be recorded first: the caller calls `prepare`
   */
  readPrepared?(workers: WorkerRange, request: SampleRequest): Promise<WorkerSample | undefined>;
  /** Reads all rows and layouts as they were at one moment. */
  readTable(): Promise<WorkerTable>;
  /** Reads what most starts need of the table. It refuses all that {@link readTable} refuses. */
  readSample(request: SampleRequest): Promise<WorkerSample>;
  /** Reads one row; undefined when it is missing or marked deleted. */
  readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }>;
  /** False when the row was not as expected. A rejection leaves open whether it was, or will be, written. */
  write(write: WorkerWrite): Promise<boolean>;
  /** Notes that this layout issues IDs; doing so again changes nothing. */
  rememberLayout(fingerprint: string): Promise<void>;
  /**
   * For operators, after a restore; the rule is in fence.ts. Frees every row, deleted ones too, as `fencedRow` does, all
   * at one moment. Holders lose their rows at the next renewal. `barredUntilMs`, or `lostUntilMs`, is from then on at least
   * that of `stateAfterFence`: the table may have lacked a row that is added later. `servedAlone` is that of it.
   * @returns how many rows there are
   * @throws ClockBehindError, ClockSkewError; nothing was changed then
   */
  fence(request: FenceRequest): Promise<number>;
  /** Which of the database's settings can lose a commit that it has acknowledged, in words; empty when none can. */
  durabilityWarnings(): Promise<readonly string[]>;
  /**
   * Where the original's times carry no zone: whether its programs and we take them for the same moments. Left out
   * where nothing can differ.
   * @throws ForeignTimeZoneError
   */
  checkForeignTimes?(): Promise<void>;
  /** Drops the connection: calls under way may still be executed. The next call connects anew. */
  abandon(): void;
  /** Ends the connection; no call may follow. */
  close(): Promise<void>;
}

/**
 * True while a row must be left to its holder. A process that finds it false may take the row, whatever layout the last
 * holder had: that holder goes on only inside its lease, whatever grace other processes have set.
 */
export function isHeld(row: WorkerRow, nowMs: number, graceMs: number): boolean {
  return row.token !== '' && nowMs < row.leaseUntilMs + graceMs;
}

/**
 * True when another program wrote the row last: the original's programs count `version` up and know no `own_version`.
 */
export function isForeign(row: WorkerRow): boolean {
  return row.code !== '' && row.ownVersion !== row.version;
}

/**
 * The code of a row that a function in the database issues with. It is marked deleted for good, and the odometer of lane 0
 * stands at the end of time. A process's code is an address or a hash.
 */
export const DATABASE_CODE = 'database';

/** Whether a row that is marked deleted belongs to a function in the database. */
export function isOfDatabase({ code }: Pick<WorkerRow, 'code'>): boolean {
  return code === DATABASE_CODE;
}

/** The order of {@link WorkerSample.rows}: rows that are given back or never used, then those whose lease ended first. */
export function byFreeSince(a: WorkerRow, b: WorkerRow): number {
  const freeSince = ({ token, leaseUntilMs }: WorkerRow): number => (token === '' ? 0 : leaseUntilMs);
  return freeSince(a) - freeSince(b);
}

const UNUSED: Odometer = { ms: 0, sequence: -1 };

/** The row of a worker id that was never used, as {@link WorkerStore.prepare} creates it. */
export function unusedRow(id: number): WorkerRow {
  return {
    id,
    version: 0,
    ownVersion: 0,
    token: '',
    holder: '',
    layout: '',
    leaseUntilMs: 0,
    lane: 0,
    odometers: [UNUSED, UNUSED],
    code: '',
    heartbeatMs: 0,
  };
}

/** The integers and texts that a store keeps of a row. */
export type RowField =
  | ('id' | 'version' | 'ownVersion' | 'leaseUntilMs' | 'heartbeatMs' | 'lane')
  | ('odo0Ms' | 'odo0Seq' | 'odo1Ms' | 'odo1Seq')
  | ('token' | 'holder' | 'layout' | 'code');

/** A row as a store has kept it, whatever the form. Each answer is undefined for a value that is missing or another kind. */
export interface KeptRow {
  /** The integer, between -(2^53 - 1) and 2^53 - 1. */
  integer(field: RowField): number | undefined;
  text(field: RowField): string | undefined;
}

/**
 * Reads a row that a store has kept. Nothing is guessed.
 * @param refusal makes the store's error for a value that Raindrop cannot have written; `legal` says what it can have
 * @throws that error
 */
export function readKeptRow(kept: KeptRow, refusal: (field: RowField, legal: string) => RaindropError): WorkerRow {
  const integer = (field: RowField): number => {
    const value = kept.integer(field);
    if (value === undefined) throw refusal(field, 'an integer within 2^53');
    return value;
  };
  const text = (field: RowField): string => {
    const value = kept.text(field);
    if (value === undefined) throw refusal(field, 'text');
    return value;
  };
  const lane = (): Lane => {
    const value = integer('lane');
    if (value !== 0 && value !== 1) throw refusal('lane', '0 or 1');
    return value;
  };
  return {
    id: integer('id'),
    version: integer('version'),
    ownVersion: integer('ownVersion'),
    token: text('token'),
    holder: text('holder'),
    layout: text('layout'),
    leaseUntilMs: integer('leaseUntilMs'),
    lane: lane(),
    odometers: [
      { ms: integer('odo0Ms'), sequence: integer('odo0Seq') },
      { ms: integer('odo1Ms'), sequence: integer('odo1Seq') },
    ],
    code: text('code'),
    heartbeatMs: integer('heartbeatMs'),
  };
}

/**
 * The row that a {@link WorkerStore.write} leaves, at `nowMs` of the store's clock.
 * @param row as it is stored; undefined when it is missing or marked deleted
 * @returns undefined when the row is not as the write expects it: nothing is written then, and the answer is false
 */
export function writtenRow(row: WorkerRow | undefined, write: WorkerWrite, nowMs: number): WorkerRow | undefined {
  const { id, expected, token, holder, layout, lane, odometers, code, leaseMs } = write;
  if (row?.version !== expected.version || row.token !== expected.token) return undefined;
  const version = expected.version + 1;
  const times = { leaseUntilMs: nowMs + leaseMs, heartbeatMs: nowMs };
  return { id, version, ownVersion: version, token, holder, layout, lane, odometers, code, ...times };
}

/** The result of {@link WorkerStore.readSample}, for the whole table. */
export function sampleRows(table: WorkerTable, { workers, from, atMost, graceMs }: SampleRequest): WorkerSample {
  const { nowMs, deleted, layouts, barredUntilMs } = table;
  const rows = table.rows.filter(({ id }) => id >= workers.min && id <= workers.max);
  const expired = rows.filter((row) => !isHeld(row, nowMs, graceMs));
  const turn = ({ id }: WorkerRow): number => (id < from ? 1 : 0);
  const free = expired
    .filter((row) => !isForeign(row))
    .sort((a, b) => byFreeSince(a, b) || turn(a) - turn(b) || a.id - b.id);
  const used = [...table.rows, ...deleted].map(({ layout }) => layout).filter((layout) => layout !== '');
  return {
    nowMs,
    ...(barredUntilMs !== undefined && { barredUntilMs }),
    rows: free.slice(0, atMost),
    total: rows.length,
    live: rows.length - expired.length,
    foreign: table.rows.filter(isForeign).length,
    layouts,
    layoutsOfRows: [...new Set(used)],
  };
}

/** The last change of a row that this process knows of. */
interface LastChange {
  readonly version: number;
  readonly sinceMs: number;
  readonly isOwn: boolean;
}

/**
 * Says when leases end where no clock is shared: a lease is over when its row has not changed for the length of a
 * lease, by the monotonic clock of the process that looks. A living holder writes its row all the time, so no other
 * process takes it, whatever the clocks of the hosts say. A process that has just started waits a whole lease for a row
 * whose holder is gone. Example: a process sees a row with a lease of 60 s first at 12:00:00; when the row has not
 * changed by 12:01:00, its lease is over.
 *
 * A store has one LeaseWatch, and shows it every row that it has written and every row that it reads. No position is
 * granted twice because of a wrong answer: the row's odometers see to that.
 */
export class LeaseWatch {
  private readonly lastChanges = new Map<number, LastChange>();

  /** @param monotonic this process's, such as `performance` */
  constructor(private readonly monotonic: MonotonicClock) {}

  /**
   * Notes a row that this store has written. The wall clock, too, ends a lease of its own: the process may have slept.
   */
  wrote({ id, version }: WorkerRow): void {
    this.lastChanges.set(id, { version, sinceMs: this.monotonic.now(), isOwn: true });
  }

  /** The row with the end of its lease by this process's clock, which says `nowMs`, Unix ms. */
  look(row: WorkerRow, nowMs: number): WorkerRow {
    const { id, version, heartbeatMs, leaseUntilMs } = row;
    if (row.token === '') return row;
    const now = this.monotonic.now();
    const known = this.lastChanges.get(id);
    const last = known?.version === version ? known : { version, sinceMs: now, isOwn: false };
    this.lastChanges.set(id, last);
    const untilMs = Math.ceil(nowMs + last.sinceMs + (leaseUntilMs - heartbeatMs) - now);
    return { ...row, leaseUntilMs: last.isOwn ? Math.min(leaseUntilMs, untilMs) : untilMs };
  }
}
