import type { ServedAlone, WorkerRow } from '@raindrop/core';
import { FENCE_LEAP, fencedRow, type KeptRow, PermanentError, readKeptRow } from '@raindrop/core/internal';
import type { Entries } from './key-values.js';

/** All fences, in one value: a new fence changes all rows at one moment. */
export interface Fences {
  readonly count: number;
  /** When the last fence was made, Unix ms. */
  readonly atMs: number;
  /** Up to when the fences raise odometers, Unix ms. */
  readonly untilMs: number;
  /** `count` after the last fence without the statement that one layout alone has served; 0 for none. */
  readonly raisedCount: number;
  /** `untilMs` of that fence. */
  readonly raisedUntilMs: number;
  /** `count` after the last fence that stated up to when IDs were issued; 0 for none. */
  readonly statedCount: number;
  /** What the last fence states. */
  readonly servedAlone?: ServedAlone;
}

export const NO_FENCES: Fences = { count: 0, atMs: 0, untilMs: 0, raisedCount: 0, raisedUntilMs: 0, statedCount: 0 };

/** The table's record of the cluster that keeps it. */
interface ClusterState {
  readonly format: number;
  readonly term: string;
  readonly failoverNumber: number;
  readonly lostAtMs: number;
  readonly reachMs: number;
}

export const FORMAT = 1;

/** The text of a row. @param fences how many fences there were when it was written */
export function recordOf(row: WorkerRow, fences: number): string {
  const { id, version, ownVersion, token, holder, layout, leaseUntilMs, lane, odometers, code, heartbeatMs } = row;
  return JSON.stringify({
    id,
    version,
    ownVersion,
    token,
    holder,
    layout,
    leaseUntilMs,
    lane,
    odometers,
    code,
    heartbeatMs,
    fences,
  });
}

/** How many fences there were when a row was written. @throws CorruptWorkerKeyError */
export function fencesAtWrite(key: string, text: string): number {
  return numberOf(key, objectOf(key, text)['fences']);
}

/** The version of a row as it was written, without the fences since; undefined for a text of another kind. */
export function versionAtWrite(text: string): number | undefined {
  try {
    const { version } = Object(JSON.parse(text)) as Record<string, unknown>;
    return Number.isSafeInteger(version) ? (version as number) : undefined;
  } catch {
    return undefined;
  }
}

/** The stored row as the fences since have changed it. @throws CorruptWorkerKeyError */
export function rowOfRecord(key: string, text: string, fences: Fences): WorkerRow {
  const { odometers, ...read } = objectOf(key, text);
  if (!Array.isArray(odometers) || odometers.length !== 2) throw new CorruptWorkerKeyError(key);
  const [odo0, odo1] = (odometers as unknown[]).map((each) => Object(each) as Record<string, unknown>);
  const values: Partial<Record<string, unknown>> = {
    ...read,
    odo0Ms: odo0!['ms'],
    odo0Seq: odo0!['sequence'],
    odo1Ms: odo1!['ms'],
    odo1Seq: odo1!['sequence'],
  };
  const kept: KeptRow = {
    integer: (field) => (Number.isSafeInteger(values[field]) ? (values[field] as number) : undefined),
    text: (field) => (typeof values[field] === 'string' ? values[field] : undefined),
  };
  const row = readKeptRow(kept, () => new CorruptWorkerKeyError(key));
  const before = numberOf(key, read['fences']);
  const since = fences.count - before;
  if (since <= 0) return row;
  const { atMs: nowMs, untilMs, raisedCount, raisedUntilMs, statedCount, servedAlone } = fences;
  const stated = before < statedCount ? { issuedUntilMs: untilMs } : {};
  const raised = before < raisedCount ? fencedRow(row, {}, { nowMs, untilMs: raisedUntilMs }).odometers : row.odometers;
  const alone = servedAlone && { servedAlone: servedAlone.layout };
  const fenced = fencedRow({ ...row, odometers: raised }, { ...stated, ...alone }, { nowMs, untilMs });
  const leap = (since - 1) * FENCE_LEAP;
  return {
    ...fenced,
    version: fenced.version + leap,
    ownVersion: fenced.ownVersion + leap,
    // A heartbeat in the future was written by a clock that was ahead: it counts as one of the fence's moment.
    heartbeatMs: Math.min(fenced.heartbeatMs, fences.atMs),
  };
}

/** @throws CorruptWorkerKeyError */
export function fencesOf(key: string, text: string | undefined): Fences {
  if (text === undefined) return NO_FENCES;
  const { count, atMs, untilMs, raisedCount, raisedUntilMs, statedCount, servedAlone } = objectOf(key, text);
  return {
    count: numberOf(key, count),
    atMs: numberOf(key, atMs),
    untilMs: numberOf(key, untilMs),
    // An earlier release wrote neither.
    raisedCount: numberOf(key, raisedCount ?? count),
    raisedUntilMs: numberOf(key, raisedUntilMs ?? untilMs),
    statedCount: numberOf(key, statedCount ?? 0),
    ...(servedAlone !== undefined && { servedAlone: servedAloneOf(key, servedAlone) }),
  };
}

function servedAloneOf(key: string, value: unknown): ServedAlone {
  const { layout, lostUntilMs } = Object(value) as Record<string, unknown>;
  if (typeof layout !== 'string') throw new CorruptWorkerKeyError(key);
  return { layout, lostUntilMs: numberOf(key, lostUntilMs) };
}

/** @throws CorruptWorkerKeyError */
export function stateOf(key: string, text: string | undefined): ClusterState | undefined {
  if (text === undefined) return undefined;
  const { format, term, epoch, lostAtMs, reachMs } = objectOf(key, text);
  if (typeof term !== 'string') throw new CorruptWorkerKeyError(key);
  return {
    term,
    format: numberOf(key, format),
    failoverNumber: numberOf(key, epoch),
    lostAtMs: numberOf(key, lostAtMs),
    reachMs: numberOf(key, reachMs),
  };
}

/** The text of a state. The failover number is stored as `epoch`. */
export function textOfState({ failoverNumber: epoch, ...others }: ClusterState): string {
  return JSON.stringify({ ...others, epoch });
}

function objectOf(key: string, text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    throw new CorruptWorkerKeyError(key);
  }
}

function numberOf(key: string, value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new CorruptWorkerKeyError(key);
  return value as number;
}

/** The keys of a table of workers. */
export class WorkerKeys {
  constructor(private readonly prefix: string) {}

  get fence(): string {
    return `${this.prefix}fence`;
  }

  get state(): string {
    return `${this.prefix}state`;
  }

  row(id: number): string {
    return `${this.prefix}row/${id}`;
  }

  /** The key that is there as long as the holder of that row lives, in stores that have such keys. */
  live(id: number): string {
    return `${this.prefix}live/${id}`;
  }

  layout(fingerprint: string): string {
    return `${this.prefix}layout/${fingerprint}`;
  }

  /** The ids of all rows. `row/1/fence` is no row: it is a key of a table whose prefix lies inside this one. */
  idsIn(entries: Entries): number[] {
    return this.endsIn(entries, 'row/', /^(0|[1-9]\d{0,14})$/).map(Number);
  }

  /**
   * All layouts that are remembered. A text that this release does not understand may be a layout of a later release,
   * so it counts. Only the key of a table inside (`layout/fence`, `layout/row/1`) does not: no layout of any release
   * has a slash or such a name.
   */
  layoutsIn(entries: Entries): string[] {
    return this.endsIn(entries, 'layout/', /^(?!(fence|state)$)[^/]+$/);
  }

  private endsIn(entries: Entries, part: string, pattern: RegExp): string[] {
    const begin = `${this.prefix}${part}`;
    const ends = [...entries.keys()].filter((key) => key.startsWith(begin)).map((key) => key.slice(begin.length));
    return ends.filter((end) => pattern.test(end));
  }
}

const REMEDY =
  "holds a value that Raindrop did not write. Restore the old value; never delete a worker's key, which records how " +
  'far its IDs went.';

/** A key of a worker in etcd or NATS was lost, or has a text that Raindrop cannot have written. Nothing is guessed. */
export class CorruptWorkerKeyError extends PermanentError {
  static override readonly name = 'CorruptWorkerKeyError';
  readonly errorCode = 'CORRUPT_WORKER_KEY';

  constructor(
    readonly key: string,
    problem = REMEDY,
  ) {
    super(`The key ${key} ${problem}`);
  }
}
