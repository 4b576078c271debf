import { HELD_TOO, MemoryWorkerStore, type MemoryWorkerTable } from '@raindrop/core/internal';
import type { SampleRequest, WorkerRange, WorkerRow, WorkerSample, WorkerTable, WorkerWrite } from '@raindrop/core';
import { FaultStore } from '../../libs/core/src/testing/fault-store.js';
import type { VirtualTime } from '../../libs/core/src/testing/virtual-time.js';

/** Who looks on at what reaches the database, and at what comes back. */
export interface Witness {
  /** The workers are about to be read, to take one. */
  looked(store: WitnessedStore): void;
  /** A write is being sent. */
  sent(store: WitnessedStore, token: string): void;
  /** A write was executed on a row that was like `before`. */
  executed(store: WitnessedStore, write: WorkerWrite, before: WorkerRow): void;
  /** The process has seen that its write with this token was executed. */
  learned(store: WitnessedStore, token: string): void;
  /** Rows that are marked deleted: in the table, but in no answer. */
  readonly hidden: ReadonlyMap<number, WorkerRow>;
}

/**
 * A process's connection, watched. It may follow another: then it has no database and gives the answers that the other
 * one got to the same calls, so that two processes live in lockstep until they part.
 */
export class WitnessedStore extends FaultStore {
  private readonly answers: Promise<unknown>[] = [];
  private followed = 0;
  private readonly waiting = new Set<(error: Error) => void>();
  private leader: WitnessedStore | undefined;
  private isFollowed = false;

  constructor(
    private readonly witness: Witness,
    table: MemoryWorkerTable,
    process: VirtualTime,
    database: VirtualTime,
    reachMs: number,
  ) {
    super(table, process, database, reachMs);
  }

  follow(leader: WitnessedStore): void {
    this.leader = leader;
    leader.isFollowed = true;
  }

  /** Goes on alone. What is under way breaks off, or hangs. */
  part(cut: 'refused' | 'hangs'): void {
    this.leader!.isFollowed = false;
    this.leader = undefined;
    if (cut === 'refused') for (const fail of this.waiting) fail(new Error('read ECONNRESET'));
    this.waiting.clear();
  }

  override prepare(workers: WorkerRange): Promise<void> {
    return this.relay(() => super.prepare(workers));
  }

  override readTable(): Promise<WorkerTable> {
    return this.relay(() => {
      this.witness.looked(this);
      return super.readTable();
    });
  }

  override readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.relay(() => {
      if (request.graceMs !== HELD_TOO) this.witness.looked(this);
      return super.readSample(request);
    });
  }

  override readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.relay(async () => {
      const answer = await super.readRow(id);
      if (answer.row !== undefined) this.witness.learned(this, answer.row.token);
      return answer;
    });
  }

  override write(write: WorkerWrite): Promise<boolean> {
    return this.relay(async () => {
      this.witness.sent(this, write.token);
      const isDone = await super.write(write);
      if (isDone) this.witness.learned(this, write.token);
      return isDone;
    });
  }

  override rememberLayout(fingerprint: string): Promise<void> {
    return this.relay(() => super.rememberLayout(fingerprint));
  }

  protected override storeOf(table: MemoryWorkerTable): MemoryWorkerStore {
    return new WitnessedTable(
      table,
      () => this.database.wall,
      this.reachMs,
      () => this.witness.hidden,
      (write, before) => this.witness.executed(this, write, before),
    );
  }

  private relay<T>(call: () => Promise<T>): Promise<T> {
    if (this.leader !== undefined) return this.answerOf(this.leader) as Promise<T>;
    const answer = call();
    if (this.isFollowed) this.answers.push(answer);
    return answer;
  }

  private answerOf(leader: WitnessedStore): Promise<unknown> {
    const answer = leader.answers[this.followed++];
    if (answer === undefined) throw new TypeError('A shadow has gone ahead of its process.');
    return new Promise((resolve, reject) => {
      this.waiting.add(reject);
      const settle = (how: () => void): void => {
        if (this.leader !== undefined) how();
        this.waiting.delete(reject);
      };
      answer.then(
        (value) => settle(() => resolve(value)),
        (error: Error) => settle(() => reject(error)),
      );
    });
  }
}

/** The database's end. */
class WitnessedTable extends MemoryWorkerStore {
  constructor(
    private readonly rows: MemoryWorkerTable,
    now: () => number,
    reachMs: number,
    private readonly hidden: () => ReadonlyMap<number, WorkerRow>,
    private readonly executed: (write: WorkerWrite, before: WorkerRow) => void,
  ) {
    super(rows, now, reachMs);
  }

  override async prepare(workers: WorkerRange): Promise<void> {
    await super.prepare(workers);
    for (const id of this.hidden().keys()) this.rows.rows.delete(id);
  }

  override async write(write: WorkerWrite): Promise<boolean> {
    const before = this.rows.rows.get(write.id);
    const isDone = await super.write(write);
    if (isDone) this.executed(write, before!);
    return isDone;
  }
}
