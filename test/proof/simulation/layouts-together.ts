import type { Layout, WorkerWrite } from '@raindrop/core';

/** A row under a lease. */
interface Held {
  readonly layout: string;
  /** Whose writes these are. */
  readonly owner: object;
  readonly sinceMs: number;
  leaseUntilMs: number;
}

/** When a write is executed. */
interface Times {
  readonly nowMs: number;
  readonly databaseMs: number;
  /** The latest that the database's clock has ever shown. */
  readonly latestMs: number;
}

/** Sees a row written under a layout that is in the way of another one, which lived already when the writer looked. */
export class LayoutsTogether {
  private readonly held = new Map<number, Held>();
  private readonly lookedMs = new Map<object, number>();
  /** When the sender of a write had looked, by its token: it may be executed long after he has looked again. */
  private readonly lookedBefore = new Map<string, number>();

  constructor(private readonly layoutOf: (fingerprint: string) => Layout) {}

  /** A process is about to read the workers. */
  looked(owner: object, nowMs: number): void {
    this.lookedMs.set(owner, nowMs);
  }

  sent(owner: object, token: string): void {
    this.lookedBefore.set(token, this.lookedMs.get(owner) ?? Number.NEGATIVE_INFINITY);
  }

  /** @returns the worker ids whose layouts are in the way */
  wrote(owner: object, write: WorkerWrite, times: Times): number[] {
    const before = this.held.get(write.id);
    if (write.token === '') {
      this.held.delete(write.id);
      return [];
    }
    const leaseUntilMs = times.databaseMs + write.leaseMs;
    if (before?.owner === owner && before.layout === write.layout) {
      before.leaseUntilMs = leaseUntilMs;
      return [];
    }
    this.held.set(write.id, { layout: write.layout, owner, sinceMs: times.nowMs, leaseUntilMs });
    const lookedMs = this.lookedBefore.get(write.token) ?? Number.NEGATIVE_INFINITY;
    const inTheWay = ([id, other]: [number, Held]): boolean =>
      id !== write.id &&
      other.sinceMs < lookedMs &&
      other.leaseUntilMs > times.latestMs &&
      other.layout !== write.layout &&
      !this.layoutOf(other.layout).disjointFrom(this.layoutOf(write.layout));
    return [...this.held].filter(inTheWay).map(([id]) => id);
  }
}
