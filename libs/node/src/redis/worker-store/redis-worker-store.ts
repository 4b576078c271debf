import {
  ConfigurationError,
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import { FENCE_LEAP, FENCED_EPOCHS_MS } from '@raindrop/core/internal';
import { RedisUnavailableError } from '../redis-errors.js';
import { durabilityOf } from './redis-durability.js';
import {
  LEAST_REACH_MS,
  RedisWorkerCalls,
  type RedisWorkerCallsOptions,
  type WorkerAnswer,
} from './redis-worker-calls.js';
import { BLANK_ROW, endOfWorkerText, readWorkerText } from './worker-text.js';

/** One look brings what was lost; a Redis that has lost it again by then is beyond use. */
const MOST_LOOKS = 3;

type Look = 'table' | 'sample' | 'one';

/** A start reads all rows, of so many in 13 to 19 ms, and Redis serves nobody meanwhile. */
export const MOST_WORKERS = 4_095;

const NO_RANGE: WorkerRange = { min: 1, max: 0 };

/**
 * Worker rows in one hash of a Redis, which may lose its memory: after a flush, a restart or a failover every odometer
 * reads as past all that can have been granted before. Processes that hold a row whose token is still there go on; those
 * that want one wait until the clock has got there.
 *
 * A write is made only in the generation in which its row was read: the store is one keeper's, one call after the other.
 */
export class RedisWorkerStore implements WorkerStore {
  private readonly calls: RedisWorkerCalls;
  private range = NO_RANGE;
  /** Every layout that was ever seen to have issued IDs: a Redis that has forgotten them is told. */
  private readonly layouts = new Set<string>();
  /** The generation that has our rows and layouts. */
  private fitted: string | undefined;
  /** The generation of what was read last. */
  private generation = '';

  constructor(private readonly options: RedisWorkerCallsOptions) {
    this.calls = new RedisWorkerCalls(options);
  }

  /** @throws ConfigurationError when there are more than {@link MOST_WORKERS}; RedisUnavailableError */
  async prepare(workers: WorkerRange): Promise<void> {
    refuseWideRange(workers);
    this.range = workers;
    await this.fit();
  }

  /** All rows as they are stored, and the floor. Before {@link prepare} it only looks, and marks nothing. */
  async readTable(): Promise<WorkerTable> {
    const what = 'reading the workers';
    const isPrepared = this.fitted !== undefined;
    const { nowMs, floorMs, rest } = isPrepared
      ? await this.look(what, 'table', [])
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
    // A floor tells that the memory was lost once, or that nobody knows how it began.
    return {
      nowMs,
      rows,
      deleted,
      layouts: this.noted(layouts),
      ...(floorMs > 0 && { floorMs, mayLackLayouts: true }),
    };
  }

  async readSample({ workers, from, atMost, graceMs }: SampleRequest): Promise<WorkerSample> {
    const args = [workers.min, workers.max, from, atMost, graceMs];
    const { nowMs, floorMs, rest } = await this.look('reading free workers', 'sample', args);
    const [, sample, layouts, layoutsOfRows, ...counts] = rest as [string, string[], string[], string[], ...string[]];
    const [total, live, foreign] = counts.map(Number) as [number, number, number];
    const rows: WorkerRow[] = [];
    for (let i = 0; i < sample.length; i += 2) rows.push(this.rowOf(sample[i]!, sample[i + 1]!, floorMs));
    return { nowMs, rows, total, live, foreign, layouts: this.noted(layouts), layoutsOfRows };
  }

  async readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    const { nowMs, floorMs, rest } = await this.look('reading a worker', 'one', [id]);
    const [text] = rest;
    return { nowMs, row: typeof text === 'string' ? this.rowOf(String(id), text, floorMs) : undefined };
  }

  async write(write: WorkerWrite): Promise<boolean> {
    const { id, expected, token, layout, leaseMs } = write;
    const was = [id, expected.version, expected.token];
    const will = [expected.version + 1, `${token}\n${layout}`, leaseMs, endOfWorkerText(write)];
    const { rest } = await this.calls.run('writing a worker', 'write', [this.generation, ...was, ...will]);
    return rest[0] === '1';
  }

  async rememberLayout(fingerprint: string): Promise<void> {
    this.layouts.add(fingerprint);
    await this.fit();
  }

  async fence(aheadMs: number): Promise<number> {
    const { rest } = await this.calls.run('fencing the workers', 'fence', [aheadMs, FENCE_LEAP, FENCED_EPOCHS_MS]);
    return Number(rest[1]);
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

  /** A read, of a Redis that has our rows and layouts: whoever forgot them is told first. */
  private async look(what: string, name: Look, args: readonly number[]): Promise<WorkerAnswer> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const answer = await this.calls.run(what, name, args);
      if (answer.generation === this.fitted) {
        this.generation = answer.generation;
        return answer;
      }
      await this.fit();
    }
    throw new RedisUnavailableError(what, 'it loses its memory at every command');
  }

  private async fit(): Promise<void> {
    const { min, max } = this.range;
    const { generation } = await this.calls.run('preparing the workers', 'fit', [min, max, BLANK_ROW, ...this.layouts]);
    this.fitted = generation;
  }

  private noted(layouts: string[]): string[] {
    for (const each of layouts) this.layouts.add(each);
    return layouts;
  }

  private rowOf(id: string, text: string, floorMs: number): WorkerRow {
    return readWorkerText(this.options.key, id, text, floorMs);
  }

  /** None when it cannot be read: marking it so is how an operator gets rid of one. */
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
    `must leave ${MOST_WORKERS} worker ids at most to redisWorkers(), which reads them all at a start: ${min} to ${max} are ` +
    `${count}. Set it to ${min + MOST_WORKERS - 1} or less; twice the number of processes is enough`;
  throw new ConfigurationError([{ option: 'serviceMaxWorkId', given: String(max), message }]);
}
