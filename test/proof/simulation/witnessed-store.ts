import { INCLUDE_HELD, MemoryWorkerStore, type BelievedServer, type MemoryWorkerTable } from '@raindrop/core/internal';
import type { SampleRequest, WorkerRange, WorkerRow, WorkerSample, WorkerTable, WorkerWrite } from '@raindrop/core';
import { FaultStore, passing } from '../../support/engine/fault-store.js';
import type { VirtualTime } from '../../support/engine/virtual-time.js';
import type { SimulatedServer } from './simulated-servers.js';
import { ServedTable, type Dispatch, type ServerSessions } from './server-sessions.js';

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
  private readonly link: LinkedTable | undefined;
  private isToSuspend = false;

  /** @param sessions where the table is on servers that take turns */
  constructor(
    private readonly witness: Witness,
    table: MemoryWorkerTable,
    process: VirtualTime,
    database: VirtualTime,
    reachMs: number,
    private readonly sessions?: ServerSessions,
  ) {
    super(table, process, database, reachMs);
    if (sessions !== undefined) this.memory = this.link = new LinkedTable(witness, this, sessions, reachMs);
  }

  /** The host's monotonic clock. */
  get hostMs(): number {
    return this.process.monotonicMs;
  }

  /**
   * Where the process is not at the old primary only because it does not know of the new one, a session may lead there.
   */
  stray(): void {
    if (this.link?.knowsOfSuccessor === true) this.sessions!.stray();
  }

  /** The process is suspended when its next read of its own row is answered; or not any more. */
  suspendAtRead(isToSuspend: boolean): void {
    this.isToSuspend = isToSuspend;
  }

  override abandon(): void {
    super.abandon();
    this.sessions?.abandon();
  }

  /** The next time that another server is given what it lacks, the connection breaks. */
  breakAtFailover(): void {
    if (this.link !== undefined) this.link.isToBreak = true;
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
      return this.believing(() => super.readTable());
    });
  }

  override readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.relay(() => {
      if (request.graceMs !== INCLUDE_HELD) this.witness.looked(this);
      return this.believing(() => super.readSample(request));
    });
  }

  override readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.relay(async () => {
      const answer = await this.believing(() => super.readRow(id));
      if (this.isToSuspend) await this.suspended();
      if (answer.row !== undefined) this.witness.learned(this, answer.row.token);
      return answer;
    });
  }

  override write(write: WorkerWrite): Promise<boolean> {
    return this.relay(async () => {
      this.witness.sent(this, write.token);
      this.link?.send(write);
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

  /** The server of an answer is believed once it has come, in time. */
  private async believing<T extends object>(call: () => Promise<T>): Promise<T> {
    const { abandoned } = this;
    const answer = await call();
    if (abandoned === this.abandoned) this.link?.believe(answer);
    return answer;
  }

  private async suspended(): Promise<void> {
    this.isToSuspend = false;
    this.process.suspend();
    await passing(this.process, 0);
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

/** The end of a database whose servers take turns: each statement is executed by the one to which its session leads. */
class LinkedTable extends WitnessedTable {
  isToBreak = false;
  private isLooking = false;
  private readonly served: ServedTable;
  private readonly answeredBy = new WeakMap<object, BelievedServer | undefined>();
  private readonly sent = new WeakMap<WorkerWrite, Dispatch>();

  constructor(
    witness: Witness,
    store: WitnessedStore,
    private readonly sessions: ServerSessions,
    private readonly noteMs: number,
  ) {
    const table = new ServedTable(sessions.forLook().server);
    super(
      table,
      () => table.server.time.wall,
      noteMs,
      () => witness.hidden,
      (write, before) => witness.executed(store, write, before),
    );
    this.served = table;
  }

  /** Whether the process has seen a server that came after the former primary. */
  get knowsOfSuccessor(): boolean {
    const { former } = this.sessions;
    return former !== undefined && (this.believed?.failoverNumber ?? 0) > former.table.state.failoverNumber;
  }

  believe(answer: object): void {
    this.believed = this.answeredBy.get(answer);
  }

  send(write: WorkerWrite): void {
    this.sent.set(write, this.sessions.forWrite(this.believed));
  }

  override prepare(workers: WorkerRange): Promise<void> {
    // In the middle of a look this is what another server is given.
    if (this.isLooking) return this.complete(workers);
    return this.on(this.sessions.forLook().server, () => super.prepare(workers));
  }

  override readTable(): Promise<WorkerTable> {
    return this.looking(() => super.readTable());
  }

  override readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.looking(() => super.readSample(request));
  }

  override readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    return this.looking(() => super.readRow(id));
  }

  override write(write: WorkerWrite): Promise<boolean> {
    const dispatch = this.sent.get(write)!;
    if (!dispatch.session.server.isUp) return Promise.reject(new Error('read ECONNRESET'));
    if (!this.sessions.isYoung(dispatch)) return Promise.resolve(false);
    const { believed } = this;
    this.believed = dispatch.believed;
    const answer = this.on(dispatch.session.server, () => super.write(write));
    this.believed = believed;
    return answer;
  }

  override rememberLayout(fingerprint: string): Promise<void> {
    return this.on(this.sessions.forWrite(undefined).session.server, () => super.rememberLayout(fingerprint));
  }

  private async looking<T extends object>(read: () => Promise<T>): Promise<T> {
    const { server } = this.sessions.forLook();
    const { believed } = this;
    this.isLooking = true;
    const answering = this.on(server, read);
    this.isLooking = false;
    const seen = this.believed;
    this.believed = believed;
    try {
      const answer = await answering;
      this.answeredBy.set(answer, seen);
      return answer;
    } catch (error) {
      this.believed = seen;
      // A new connection may lead elsewhere.
      this.sessions.abandon();
      throw error;
    }
  }

  private complete(workers: WorkerRange): Promise<void> {
    if (this.isToBreak) {
      this.isToBreak = false;
      // At this very moment another process notes it.
      const { server } = this.served;
      const another = new MemoryWorkerStore(server.table, () => server.time.wall, this.noteMs);
      void another.prepare(workers);
      void another.readRow(workers.min);
      throw new Error('read ECONNRESET');
    }
    return super.prepare(workers);
  }

  private on<T>(server: SimulatedServer, work: () => T): T {
    this.served.server = server;
    try {
      return work();
    } finally {
      server.keep();
    }
  }
}
