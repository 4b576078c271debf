import {
  ConfigurationError,
  type FenceRequest,
  type SampleRequest,
  type Timers,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
  ClockBehindError,
  ClockSkewError,
  FormerPrimaryError,
} from '@raindrop/core';
import {
  FENCE_FAILOVERS_MS,
  FENCE_LEAP,
  fenceMs,
  grantOf,
  judgeFence,
  type KnownServer,
  latestTimes,
  wallClock,
  type WrittenRow,
} from '@raindrop/core/internal';
import { RedisConnection, type RedisTarget, RedisUnavailableError } from '../redis-connection.js';
import { BLANK_ROW, CorruptRedisWorkerError, endOfWorkerText, readWorkerText } from './worker-text.js';
import { type WorkerScriptName, workerScripts } from './worker-scripts.js';

/** One look adds what was lost. A Redis that has lost it again at each of so many looks is of no use. */
const MOST_LOOKS = 3;

type ReadScript = 'table' | 'sample' | 'one';

/** A start reads all rows: 4,095 in 13 to 19 ms, in which Redis serves no other client. */
const MOST_WORKERS = 4_095;

const NO_RANGE: WorkerRange = { min: 1, max: 0 };

/**
 * Worker rows in one hash of a Redis, which may lose its memory. After a flush, a restart or a failover no odometer is
 * believed before `lostUntilMs`, which lies past all that can have been granted before. A process whose row still has
 * its token goes on. A process that wants a row waits until the clock has passed that moment.
 *
 * The scripts judge the server themselves, by its own clock and at the moment of the command: a FailoverGuard here
 * would judge later, and need a second round trip. A write is made only under the marker under which its row was read. So
 * one store serves one keeper, one call after the other.
 */
export class RedisWorkerStore implements WorkerStore {
  private readonly calls: RedisWorkerCalls;
  private range = NO_RANGE;
  /** Every layout that was seen to have issued IDs. A Redis that has forgotten one is told. */
  private readonly layouts = new Set<string>();
  /** The marker of the memory that has our rows and layouts. */
  private completed: string | undefined;
  /** The marker under which rows were read last. */
  private marker = '';

  constructor(private readonly options: RedisWorkerCallsOptions) {
    this.calls = new RedisWorkerCalls(options);
  }

  /** @throws ConfigurationError when there are more than {@link MOST_WORKERS}; RedisUnavailableError */
  async prepare(workers: WorkerRange): Promise<void> {
    refuseWideRange(workers);
    this.range = workers;
    await this.complete();
  }

  /** Reads all rows as they are stored, and `lostUntilMs`. Before {@link prepare} it writes no marker. */
  async readTable(): Promise<WorkerTable> {
    const what = 'reading the workers';
    const isPrepared = this.completed !== undefined;
    const { marker, nowMs, lostUntilMs, rest } = isPrepared
      ? await this.readBelieved(what, 'table', [])
      : await this.calls.run(what, 'peek', []);
    const [fields] = rest as [string[]];
    const all = new Map<string, string>();
    for (let i = 0; i < fields.length; i += 2) all.set(fields[i]!, fields[i + 1]!);
    const rows: WorkerRow[] = [];
    const deleted: WorkerRow[] = [];
    const layouts: string[] = [];
    for (const [name, text] of all) {
      if (name.startsWith('layout:')) layouts.push(name.slice('layout:'.length));
      if (!/^\d+$/.test(name)) continue;
      if (!all.has(`deleted:${name}`)) rows.push(this.rowOf(name, text, 0));
      else deleted.push(...this.deletedRowOf(name, text));
    }
    this.noteServed([...rows, ...deleted], layouts);
    return {
      nowMs,
      rows,
      deleted,
      layouts: this.noted(layouts),
      // It is set when the memory was lost once, or nothing tells how it began.
      ...(lostUntilMs > 0 && { lostUntilMs }),
      // A loss that no process has recorded yet counts for every layout.
      ...(all.get('generation') === marker && this.servedAloneOf(all)),
    };
  }

  private servedAloneOf(all: ReadonlyMap<string, string>): Pick<WorkerTable, 'servedAlone'> {
    const layout = all.get('servedAlone');
    if (layout === undefined) return {};
    const lostAtMs = Number(all.get('lostAt'));
    const lossMs = lostAtMs > 0 ? lostAtMs + this.calls.longestReachMs : 0;
    return { servedAlone: { layout, lostUntilMs: Math.max(Number(all.get('aloneFloor')), lossMs) } };
  }

  async readSample({ workers, from, atMost, graceMs }: SampleRequest): Promise<WorkerSample> {
    const args = [workers.min, workers.max, from, atMost, graceMs];
    const { nowMs, lostUntilMs, rest } = await this.readBelieved('reading free workers', 'sample', args);
    const [, sample, layouts, layoutsOfRows, ...counts] = rest as [string, string[], string[], string[], ...string[]];
    const [total, live, foreign] = counts.map(Number) as [number, number, number];
    const rows: WorkerRow[] = [];
    for (let i = 0; i < sample.length; i += 2) rows.push(this.rowOf(sample[i]!, sample[i + 1]!, lostUntilMs));
    this.noteServed(rows, [...layouts, ...layoutsOfRows]);
    return { nowMs, rows, total, live, foreign, layouts: this.noted(layouts), layoutsOfRows };
  }

  async readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    const { nowMs, lostUntilMs, rest } = await this.readBelieved('reading a worker', 'one', [id]);
    const [text] = rest;
    const row = typeof text === 'string' ? this.rowOf(String(id), text, lostUntilMs) : undefined;
    if (row !== undefined) this.calls.noteRead(row);
    this.noteServed(row === undefined ? [] : [row]);
    return { nowMs, row };
  }

  async write(write: WorkerWrite): Promise<boolean> {
    const { id, expected, token, layout, leaseMs } = write;
    this.calls.noteSent(write);
    const was = [id, expected.version, expected.token];
    const will = [expected.version + 1, `${token}\n${layout}`, leaseMs, endOfWorkerText(write)];
    const { marker, rest } = await this.calls.run('writing a worker', 'write', [this.marker, ...was, ...will]);
    const isWritten = rest[0] === '1';
    if (isWritten) this.calls.noteWritten(marker, write);
    return isWritten;
  }

  async rememberLayout(fingerprint: string): Promise<void> {
    this.layouts.add(fingerprint);
    await this.complete();
  }

  async fence(request: FenceRequest): Promise<number> {
    const { aheadMs, maxClockSkewMs, issuedUntilMs = '', servedAlone = '' } = request;
    const { nowMs, rows, deleted } = await this.readTable();
    const times = { ...latestTimes([...rows, ...deleted]), lostAtMs: 0 };
    const forMs = fenceMs(request, this.calls.longestReachMs, 0);
    const { fromMs } = judgeFence(times, request, { nowMs, forMs });
    const answer = await this.calls.run('fencing the workers', 'fence', [
      ...[aheadMs, FENCE_LEAP, FENCE_FAILOVERS_MS],
      ...[issuedUntilMs, servedAlone, fromMs, maxClockSkewMs],
    ]);
    const [what, found] = answer.rest;
    if (what === 'behind') throw new ClockBehindError('recorded a loss of commits at', Number(found), answer.nowMs);
    return Number(found);
  }

  async durabilityWarnings(): Promise<readonly string[]> {
    const { reachMs, leastReachMs = LEAST_REACH_MS } = this.options;
    return durabilityOf(await this.calls.settings(), Math.max(reachMs, leastReachMs));
  }

  abandon(): void {
    this.calls.abandon();
  }

  close(): Promise<void> {
    this.calls.close();
    return Promise.resolve();
  }

  /** Reads, once Redis has our rows and layouts: a Redis that has forgotten them is told first. */
  private async readBelieved(what: string, name: ReadScript, args: readonly number[]): Promise<WorkerAnswer> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const answer = await this.calls.run(what, name, args);
      if (answer.marker === this.completed) {
        this.marker = answer.marker;
        return answer;
      }
      await this.complete();
    }
    throw new RedisUnavailableError(what, 'it loses its memory at every command');
  }

  private async complete(): Promise<void> {
    const { min, max } = this.range;
    const { marker } = await this.calls.run('preparing the workers', 'complete', [
      min,
      max,
      BLANK_ROW,
      ...this.layouts,
    ]);
    this.completed = marker;
  }

  /** A row that was ever written has a code or a layout. */
  private noteServed(rows: readonly WorkerRow[], layouts: readonly string[] = []): void {
    const isUsed = rows.some(({ code, layout }) => code !== '' || layout !== '');
    if (isUsed || layouts.length > 0) this.calls.noteServed();
  }

  private noted(layouts: string[]): string[] {
    for (const each of layouts) this.layouts.add(each);
    return layouts;
  }

  private rowOf(id: string, text: string, lostUntilMs: number): WorkerRow {
    return readWorkerText(this.options.key, id, text, lostUntilMs);
  }

  /** None for a row that cannot be read: an operator who marks such a row deleted gets rid of it. */
  private deletedRowOf(id: string, text: string): WorkerRow[] {
    try {
      return [this.rowOf(id, text, 0)];
    } catch {
      return [];
    }
  }
}

function refuseWideRange({ min, max }: WorkerRange): void {
  const count = max - min + 1;
  if (count <= MOST_WORKERS) return;
  const message =
    `must leave at most ${MOST_WORKERS} worker ids to redisWorkers(), which reads them all at startup: ${min} to ` +
    `${max} are ${count}. Set it to ${min + MOST_WORKERS - 1} or less; twice the number of processes is enough`;
  throw new ConfigurationError([{ option: 'serviceMaxWorkId', given: String(max), message }]);
}

export interface RedisWorkerCallsOptions {
  readonly connection: RedisTarget;
  /** The hash that holds everything. */
  readonly key: string;
  readonly opTimeoutMs: number;
  /** How far the grants of this service reach past a loss, ms: see grantReachMs. */
  readonly reachMs: number;
  /** How long no worker id is given at least after Redis lost its memory, ms. Default {@link LEAST_REACH_MS}. */
  readonly leastReachMs?: number | undefined;
  /** How far this host's clock and Redis' may be apart when a loss is recorded, ms. No limit when left out. */
  readonly maxClockSkewMs?: number | undefined;
  readonly timers: Timers;
  /** Is told once for each loss of Redis' memory, until when no worker id is given. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * The reach of the default lease: after a loss nothing tells which other processes had the key, and with which lease.
 */
export const LEAST_REACH_MS = 185_000;

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** What a process knows of the server whose marker it has seen last: see failover-guard.ts. */
interface KnownMemory extends Required<Pick<KnownServer, 'seenAtMs' | 'grantedMs' | 'written'>> {
  /** '' before the first answer. A server with an earlier marker was replaced. */
  readonly marker: string;
  /** Whether IDs were issued on the rows, as this process has seen. Before that a Redis may be made anew by hand. */
  readonly hasServed: boolean;
}

const NOTHING_KNOWN: KnownMemory = {
  marker: '',
  seenAtMs: 0,
  grantedMs: 0,
  hasServed: false,
  written: { id: 0, version: 0 },
};

/** The server's part of a marker. */
function termOf(marker: string): string {
  return marker.slice(0, marker.indexOf(':') + 1);
}

/** The answer of a script, and the memory that it is from. */
interface WorkerAnswer {
  /** Changes with every loss of Redis' memory. */
  readonly marker: string;
  /** No odometer is believed below the end of that moment's tick; 0 for none. */
  readonly lostUntilMs: number;
  readonly nowMs: number;
  readonly rest: readonly unknown[];
}

/** The scripts of a worker store, over a connection that can be abandoned. */
class RedisWorkerCalls {
  private connection: RedisConnection;
  private isClosed = false;
  private warnedOf: string | undefined;
  /** The longest reach that Redis ever told. A Redis that has forgotten it is told. */
  private reachMs: number;
  /** The marker of the last answer, and what this process knows of the server that had it. */
  private known: KnownMemory = NOTHING_KNOWN;

  constructor(private readonly options: RedisWorkerCallsOptions) {
    this.reachMs = options.reachMs;
    this.connection = this.connect();
  }

  /**
   * @throws RedisUnavailableError, whether it was executed is unknown; FormerPrimaryError; ClockSkewError;
   * CorruptRedisWorkerError
   */
  async run(
    what: string,
    name: Exclude<WorkerScriptName, 'init' | 'durability'>,
    args: readonly (string | number)[],
  ): Promise<WorkerAnswer> {
    const [marker, lostUntil, now, reach, ...rest] = await this.call(what, name, args);
    if (rest[0] === 'former' || rest[0] === 'skew') throw this.refusalOf(rest[0], Number(now));
    if (name !== 'peek') this.believe(String(marker), Number(now), Number(lostUntil) >= Number(now));
    this.reachMs = Math.max(this.reachMs, Number(reach));
    if (rest[0] === 'corrupt') throw new CorruptRedisWorkerError(this.options.key, String(rest[1]));
    const answer = { marker: String(marker), lostUntilMs: Number(lostUntil), nowMs: Number(now), rest };
    this.warnOf(answer);
    return answer;
  }

  /** A row was written under this marker: a Redis that shows an earlier one, or none, has lost it. */
  noteWritten(marker: string, { id, expected }: WorkerWrite): void {
    if (marker !== this.known.marker) return;
    this.known = { ...this.known, written: { id, version: expected.version + 1 } };
  }

  /** A row is about to be written: its answer may be lost. */
  noteSent(write: WorkerWrite): void {
    this.known = { ...this.known, grantedMs: Math.max(this.known.grantedMs, grantOf(write)), hasServed: true };
  }

  /** IDs were issued on the rows of the server that has answered last. */
  noteServed(): void {
    this.known = { ...this.known, hasServed: true };
  }

  /** A write whose answer was lost shows in the row. */
  noteRead({ id, version }: WrittenRow): void {
    const { written } = this.known;
    if (id === written.id && version > written.version) this.known = { ...this.known, written: { id, version } };
  }

  private believe(marker: string, seenAtMs: number, isBarred: boolean): void {
    const { grantedMs, hasServed } = this.known;
    const isSame = marker === this.known.marker;
    const isLater = !isSame && termOf(marker) === termOf(this.known.marker);
    // What is missing since a loss that bars still is no second loss.
    const written = isSame || (isLater && !isBarred) ? this.known.written : NOTHING_KNOWN.written;
    this.known = { marker, seenAtMs, grantedMs, hasServed, written };
  }

  /** See grantReachMs: the longest that Redis has told so far, ms. */
  get longestReachMs(): number {
    return this.reachMs;
  }

  /** The server's settings. @throws RedisUnavailableError */
  settings(): Promise<readonly unknown[]> {
    return this.call('reading its settings', 'durability', []);
  }

  /** The next call connects anew. A client of the application stays connected; its late answers are not used. */
  abandon(): void {
    this.connection.close();
    if (!this.isClosed) this.connection = this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.connection.close();
  }

  private async call(
    what: string,
    name: WorkerScriptName,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const { connection } = this;
    const { key, leastReachMs = LEAST_REACH_MS, maxClockSkewMs = NO_LIMIT } = this.options;
    const { marker, seenAtMs, grantedMs, hasServed, written } = this.known;
    const limits = [this.reachMs, leastReachMs, wallClock.now(), maxClockSkewMs];
    const knowledge = [hasServed ? Math.max(seenAtMs, grantedMs) : 0, written.id, written.version, marker];
    try {
      const said = await connection.run(
        what,
        workerScripts[name],
        [key],
        [[...limits, ...knowledge].join(' '), ...args.map(String)],
      );
      if (connection !== this.connection) throw new RedisUnavailableError(what, 'the call was abandoned');
      return said;
    } catch (error) {
      // A server that is silent, was demoted or has moved is not asked again over the same connection.
      if (connection === this.connection) this.abandon();
      throw error;
    }
  }

  /** Another connection may lead to the present primary. */
  private refusalOf(what: 'former' | 'skew', nowMs: number): FormerPrimaryError | ClockSkewError {
    this.abandon();
    if (what === 'former') return new FormerPrimaryError();
    return new ClockSkewError(wallClock.now() - nowMs, this.options.maxClockSkewMs ?? NO_LIMIT);
  }

  private warnOf({ marker, lostUntilMs, nowMs }: WorkerAnswer): void {
    if (lostUntilMs <= nowMs || marker === this.warnedOf) return;
    this.warnedOf = marker;
    this.options.warn?.(
      `Redis lost all or part of the worker ids in ${this.options.key}, or never had them: none is given before ` +
        `${new Date(lostUntilMs).toISOString()}. Processes keep those that Redis still shows. Do not change the ` +
        `layout until then: Redis may have forgotten earlier layouts, too`,
    );
  }

  private connect(): RedisConnection {
    const { connection, timers, opTimeoutMs } = this.options;
    return new RedisConnection(connection, timers, opTimeoutMs, 'foreground');
  }
}

/** How long a primary that is cut off from its replicas takes writes by default, s: `min-replicas-max-lag`. */
const USUAL_LAG_S = 10;

/**
 * Which of a server's settings can cost its memory, in words.
 * @param said its INFO: persistence, replication, memory
 */
export function durabilityOf(said: readonly unknown[], reachMs: number): string[] {
  const info = said.map(String).join('\n');
  const valueOf = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const cost = `for ${Math.ceil(reachMs / 1_000)} s no process gets a new worker id`;
  const warnings: string[] = [];
  if (valueOf('aof_enabled') === '0') {
    warnings.push(
      `aof_enabled is 0: after a restart Redis shows an old snapshot or nothing, and ${cost}, not even to replace a ` +
        `lost one. Set appendonly to yes`,
    );
  }
  const policy = valueOf('maxmemory_policy') ?? '';
  if (policy.startsWith('allkeys') && valueOf('maxmemory') !== '0') {
    warnings.push(
      `maxmemory_policy is ${policy}: Redis may evict the worker ids, after which every process loses its own, and ` +
        `${cost}. Set it to noeviction, or to one of volatile-*`,
    );
  }
  // The count of good replicas is told where min-replicas-to-write is set.
  if (valueOf('connected_slaves') !== '0' && valueOf('min_slaves_good_slaves') === undefined) {
    warnings.push(
      `min-replicas-to-write is 0: an isolated primary keeps renewing leases while a promoted replica gives out the ` +
        `same worker ids. Set it to at least 1, and min-replicas-max-lag to ${USUAL_LAG_S} s or less`,
    );
  }
  return warnings;
}
