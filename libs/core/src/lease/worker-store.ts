import type { Lane, PerLane } from '../generator/tenure.js';
import type { WorkerRange } from '../layout/layout-usage.js';
import type { MonotonicClock } from '../ports.js';

/** A position without a layout: the Unix ms at which its tick starts, and the sequence. */
export interface Odometer {
  readonly ms: number;
  readonly sequence: number;
}

/** One worker id's row. All times are Unix ms by the database's clock. */
export interface WorkerRow {
  readonly id: number;
  /** Goes up with every write, whoever writes. */
  readonly version: number;
  /** `version` after the last write of ours; different when another program wrote the row since. */
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
  /** The rows marked deleted: nobody may take one, and what was granted there still counts. */
  readonly deleted: readonly WorkerRow[];
  /** The fingerprint of every layout that ever issued IDs from this table. */
  readonly layouts: readonly string[];
  /** Whether others may have, of which the store has no memory any more. Default false. */
  readonly mayLackLayouts?: boolean;
  /**
   * Up to when no odometer is believed, since the store may have lost what it had acknowledged, Unix ms: whoever acquires
   * a row begins behind that moment's tick. Left out when nothing was lost.
   */
  readonly barredUntilMs?: number;
  /**
   * The same moment of a store in which a start waits for it only as long as its `waitForWorkerMs` says: until then the
   * start finds the rows used up. Default `barredUntilMs`.
   */
  readonly floorMs?: number;
}

/** Every layout that the table knows, as fingerprints. */
export interface KnownLayouts {
  /** Those that ever issued IDs from this table. */
  readonly layouts: readonly string[];
  /** Those of the last holders of all rows, deleted ones too. */
  readonly layoutsOfRows: readonly string[];
}

/** A request for a sample says which rows it is to be of. */
export interface SampleRequest {
  readonly workers: WorkerRange;
  /** The worker id to begin with among equals; after the highest one comes the lowest. */
  readonly from: number;
  readonly atMost: number;
  /** A lease that ended that long ago is over; by `INCLUDE_HELD` every one is. */
  readonly graceMs: number;
}

/** The grace of a sample that takes held rows for free ones. */
export const INCLUDE_HELD = Number.MIN_SAFE_INTEGER;

/** A few rows that may be free, and what has to be known of the others, as they were at one moment. */
export interface WorkerSample extends KnownLayouts {
  /** The database's clock. */
  readonly nowMs: number;
  /**
   * Rows of the range that nobody holds and no other program wrote last: given back or never used first, then the
   * longest expired. When there is none, some may still be found in the whole table.
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

/** By how much a fence raises versions: what was read before a table went back in time must not match afterwards. */
export const FENCE_LEAP = 1_000_000_000;

/**
 * Keeps worker rows. Every call goes to the primary, outside any transaction of the application, and is settled
 * only when the database has acknowledged it. How to write one: docs/your-own-store.md.
 */
export interface WorkerStore {
  /** Creates the tables and the rows of the range where they are missing; any number of processes may do so at once. */
  prepare(workers: WorkerRange): Promise<void>;
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
   * For operators: raises both odometers of every row, deleted ones too, to the end of the tick at now + `aheadMs` where
   * they are lower (sequence 2^53 - 1), and frees every row, in one statement; versions leap by
   * `FENCE_LEAP`. Holders lose their rows at the next renewal.
   * @returns how many rows there are
   */
  fence(aheadMs: number): Promise<number>;
  /** Which of the database's settings can lose a commit that it has acknowledged, in words; empty when none can. */
  durabilityWarnings(): Promise<readonly string[]>;
  /**
   * Where the original's times carry no zone: whether its programs and we take them for the same moments. Left out where
   * nothing can differ.
   * @throws ForeignTimeZoneError
   */
  checkForeignTimes?(): Promise<void>;
  /** Drops the connection: whatever is under way may still be executed. The next call connects anew. */
  abandon(): void;
  /** Ends the connection; no call may follow. */
  close(): Promise<void>;
}

interface LastChange {
  readonly version: number;
  readonly sinceMs: number;
  readonly isOwn: boolean;
}

/**
 * Says when leases end where no clock is shared: a lease is over when its row has not changed for as long as it was to
 * last, by the monotonic clock of whoever looks. A holder that lives writes his row all the time, so nobody takes it,
 * whatever the clocks of the hosts say. Whoever has just started waits a whole lease for a row whose holder is gone.
 *
 * A store has one. It shows to it every row that it has written and every row that it reads. What was granted stays
 * granted in any case: that is a matter of the row's odometers.
 */
export class LeaseWatch {
  private readonly lastChanges = new Map<number, LastChange>();

  /** @param monotonic this process's, such as `performance` */
  constructor(private readonly monotonic: MonotonicClock) {}

  /** Notes a row that this store has written: of its own lease the wall clock tells, too, that it has slept past the end. */
  wrote({ id, version }: WorkerRow): void {
    this.lastChanges.set(id, { version, sinceMs: this.monotonic.now(), isOwn: true });
  }

  /** A row as it is to be believed at `nowMs`, Unix ms of this process: with the end of the lease by that clock. */
  look(row: WorkerRow, nowMs: number): WorkerRow {
    const { id, version, heartbeatMs, leaseUntilMs } = row;
    if (row.token === '') return row;
    const now = this.monotonic.now();
    const known = this.lastChanges.get(id);
    const seen = known?.version === version ? known : { version, sinceMs: now, isOwn: false };
    this.lastChanges.set(id, seen);
    const untilMs = Math.ceil(nowMs + seen.sinceMs + (leaseUntilMs - heartbeatMs) - now);
    return { ...row, leaseUntilMs: seen.isOwn ? Math.min(leaseUntilMs, untilMs) : untilMs };
  }
}
