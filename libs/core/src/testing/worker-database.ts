import type { WorkerRange } from '../layout/layout-usage.js';
import { MemoryWorkerStore, MemoryWorkerTable } from '../lease/memory-worker-store.js';
import type { WorkerRow } from '../lease/worker-store.js';
import { VirtualTime } from './virtual-time.js';

/** A database with a worker table in it, its clock, and what an operator or a failover may do to it. */
export class WorkerDatabase {
  readonly table = new MemoryWorkerTable();
  readonly time: VirtualTime;

  /** @param time its clock; a wall clock's value makes a new one */
  constructor(time: VirtualTime | number | string = '2026-03-01T12:00:00.000Z') {
    this.time = time instanceof VirtualTime ? time : new VirtualTime(time);
  }

  /** A database whose rows exist. */
  static async withRows(workers: WorkerRange, wall?: number | string): Promise<WorkerDatabase> {
    const database = new WorkerDatabase(wall);
    await new MemoryWorkerStore(database.table, () => database.time.wall).prepare(workers);
    return database;
  }

  /** What is in the table now, to go back to. */
  snapshot(): MemoryWorkerTable {
    const copy = new MemoryWorkerTable();
    this.restore(this.table, copy);
    return copy;
  }

  /** The database loses everything since `from` was taken, acknowledged or not. */
  restore(from: MemoryWorkerTable, to = this.table): void {
    to.rows.clear();
    from.rows.forEach((row, id) => to.rows.set(id, row));
    to.layouts.clear();
    to.deleted.clear();
    from.deleted.forEach((row, id) => to.deleted.set(id, row));
    from.layouts.forEach((layout) => to.layouts.add(layout));
    to.state = from.state;
  }

  row(id: number): WorkerRow {
    return this.table.rows.get(id)!;
  }

  /** Changes a row from outside, version or not as given. */
  change(id: number, change: Partial<WorkerRow>): void {
    this.table.rows.set(id, { ...this.row(id), ...change });
  }

  /** As the original's programs write: the version goes up, of ours nothing is known. */
  writeAsForeigner(id: number, code = '10.0.0.9#0#2#00:00'): void {
    this.change(id, { code, version: this.row(id).version + 1, heartbeatMs: this.time.wall });
  }

  advance(ms: number): Promise<void> {
    return this.time.advance(ms);
  }
}
