import type { QueryRunner } from 'typeorm';

/** A call that inserts: one execution of a query builder, or what a QueryRunner saves until something fails. */
export interface InsertRun {
  /** Whether what it was to write has been written or has failed. */
  isOver(): boolean;
  /** Stands for the query builder; undefined for what is saved. */
  readonly builder?: object;
  /** An upsert, or an insert that ignores rows that exist: an ID in an object says which row is meant, and stays. */
  readonly isUpsert?: boolean;
}

/** One execution of a query builder. The claims of its objects refer to it: it refers neither to them nor to the builder. */
export class Execution implements InsertRun {
  private hasEnded = false;

  constructor(
    readonly builder: object,
    readonly isUpsert: boolean,
  ) {}

  isOver(): boolean {
    return this.hasEnded;
  }

  end(): void {
    this.hasEnded = true;
  }
}

/** The run of each QueryRunner that saves. After a failure it is over: its objects may be saved again, with their IDs. */
export class RunnerRuns {
  private readonly runs = new WeakMap<QueryRunner, InsertRun & { end(): void }>();

  of(runner: QueryRunner): InsertRun {
    const present = this.runs.get(runner);
    if (present !== undefined) return present;
    let isOver = false;
    const run = { isOver: () => isOver || runner.isReleased, end: () => void (isOver = true) };
    this.runs.set(runner, run);
    return run;
  }

  /** Called when a statement has failed or the transaction was rolled back. */
  end(runner: QueryRunner): void {
    this.runs.get(runner)?.end();
    this.runs.delete(runner);
  }
}
