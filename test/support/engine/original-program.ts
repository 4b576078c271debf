import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '../../../libs/core/src/layout/layout.js';
import type { VirtualTime } from './virtual-time.js';
import type { WorkerDatabase } from './keeper-bench.js';

/** How long after a heartbeat, by its own clock, the original takes a row; units from a minute up wait for one more. */
const FREE_AFTER_MS = 120_000;

export interface OriginalOptions {
  readonly code?: string;
  /** `PriorityEqualCodeWorkId`: it takes the row of its own code, even if another program holds it. */
  readonly prefersOwnCode?: boolean;
  /** How far times that others wrote seem to lie back: the difference of the zones. */
  readonly zoneErrorMs?: number;
}

/**
 * A program of the Go original, as its source has it: a row is free when its heartbeat is old by this program's clock, in
 * or out of any range; IDs begin with the present; a heartbeat that wrote no row takes the version that it finds.
 */
export class OriginalProgram {
  workerId: number | undefined;
  private version = 0;
  private tick = -1;
  private sequence = 0;

  constructor(
    private readonly database: WorkerDatabase,
    private readonly layout: Layout,
    private readonly time: VirtualTime,
    private readonly options: OriginalOptions = {},
  ) {}

  /** Takes a row if one is free; answers whether it has one. */
  start(): boolean {
    const { code = '10.0.0.9#0#2#00:00', prefersOwnCode = false, zoneErrorMs = 0 } = this.options;
    const rows = [...this.database.table.rows.values()];
    const { unitMs } = this.layout;
    const oldest = this.time.wall - FREE_AFTER_MS - (unitMs < 60_000 ? 0 : unitMs);
    const free = rows
      .filter(({ heartbeatMs }) => heartbeatMs - zoneErrorMs < oldest)
      .sort((a, b) => a.heartbeatMs - b.heartbeatMs);
    const same = prefersOwnCode && unitMs < 60_000 ? rows.find((row) => row.code === code) : undefined;
    const row = same ?? free[0];
    if (row === undefined) return false;
    this.workerId = row.id;
    this.write(code);
    return true;
  }

  heartbeat(): void {
    const row = this.database.row(this.workerId!);
    if (row.version === this.version) this.write(row.code);
    else this.version = row.version;
  }

  nextId(): bigint {
    const { timeline, workIdShift } = { timeline: this.layout.timeline, workIdShift: BigInt(this.layout.lowBits) };
    const tick = timeline.tickAt(this.time.wall);
    this.sequence = tick === this.tick ? this.sequence + 1 : 0;
    this.tick = tick;
    const low = this.layout.pack({ tick: 0, workerId: 0, clockBack: 0, sequence: this.sequence });
    // As it shifts: a worker id that is too large for its bits runs over into the timestamp.
    const unit = this.layout.pack({ tick: 0, workerId: 1, clockBack: 0, sequence: 0 }) & ~1n;
    return (BigInt(tick) << workIdShift) | (BigInt(this.workerId!) * unit) | low;
  }

  private write(code: string): void {
    this.database.writeAsForeigner(this.workerId!, code);
    this.database.change(this.workerId!, { heartbeatMs: this.time.wall });
    this.version = this.database.row(this.workerId!).version;
  }
}

/** IDs that the original made, and the wall-clock window (Unix ms) in which it made them. */
export interface Vector {
  readonly timeUnit: 1 | 2 | 3 | 4 | 5;
  readonly timestampLength: number;
  readonly workerIdLength: number;
  readonly endBitsLength: number;
  readonly endBitsValue: number;
  readonly epoch: string;
  readonly minWorkerId: number;
  readonly maxWorkerId: number;
  readonly workerId: number;
  readonly t0: number;
  readonly t1: number;
  readonly ids: readonly string[];
}

const file = process.env['RAINDROP_VECTORS'] ?? join(__dirname, 'go-raindrop-vectors.json');
/** The file that RAINDROP_VECTORS names, or the repository's copy. */
export const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[];
