import type { MemoryWorkerTable } from '@raindrop/core/internal';

/** Which backup is restored: so old, ms; the one that was marked; or an empty database. */
export type WhichBackup = number | 'marked' | 'empty';

/** What is restored, and where. */
export interface Restore {
  readonly of: WhichBackup;
  /** Where servers take turns: the server that gets it, or the primary itself. */
  readonly onto: number | 'same';
  /** False: the record of servers, losses and fences was not part of the backup. */
  readonly hasState: boolean;
}

/** Since when a table lacks what processes did, and whether it has its own record; until it is fenced. */
export interface Lack {
  readonly sinceMs: number;
  readonly hasState: boolean;
}

/** A table as it was once. */
export interface Backup {
  readonly atMs: number;
  readonly table: MemoryWorkerTable;
  /** It was restored itself, and not yet fenced. */
  readonly lack: Lack | undefined;
}

/** The backups of a table: one of every moment at which something was written or done. */
export class SimulatedBackups {
  private readonly all: Backup[] = [];
  private marked: Backup | undefined;

  keep(backup: Backup): void {
    if (this.all.at(-1)?.atMs === backup.atMs) this.all.pop();
    this.all.push(backup);
  }

  /** The present is the one that is restored later. */
  mark(): void {
    this.marked = this.all.at(-1);
  }

  /** The last one before that moment; undefined where there is none. */
  before(ms: number): Backup | undefined {
    let [low, high] = [0, this.all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.all[middle]!.atMs <= ms) low = middle + 1;
      else high = middle;
    }
    return this.all[low - 1];
  }

  find(of: Exclude<WhichBackup, 'empty'>, nowMs: number): Backup | undefined {
    return of === 'marked' ? this.marked : (this.before(nowMs - of) ?? this.all[0]);
  }
}
