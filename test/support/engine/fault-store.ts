import { MemoryWorkerStore, type MemoryWorkerTable } from '../../../libs/core/src/lease/memory-worker-store.js';
import {
  type FenceRequest,
  INCLUDE_HELD,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '../../../libs/core/src/lease/worker-store.js';
import type { WorkerRange } from '../../../libs/core/src/layout/layout-options.js';
import type { VirtualTime } from './virtual-time.js';

/** What may happen to one call on its way. */
export type Fault =
  /** Refused before it was executed. */
  | { readonly kind: 'refused' }
  /** Executed, and the connection broke before the answer. */
  | { readonly kind: 'answer-lost' }
  /** Never executed, never answered: a half-open connection. */
  | { readonly kind: 'hangs' }
  /** Never answered, and executed later, after the client has given up. */
  | { readonly kind: 'ghost'; readonly afterMs: number }
  /** Takes its time on the way there, and on the way back. */
  | { readonly kind: 'slow'; readonly thereMs: number; readonly backMs: number };

/** A new one each time: a promise keeps its waiters in memory, and everything that they refer to. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** Lets so much of a time go by. */
export function passing(time: VirtualTime, ms: number): Promise<void> {
  return new Promise((resolve) => void time.setTimer(resolve, ms));
}

/**
 * Executes a call that meets a fault, or none.
 * @param there the time that passes on the other end
 */
export async function meet<T>(fault: Fault | undefined, there: VirtualTime, execute: () => T | Promise<T>): Promise<T> {
  switch (fault?.kind) {
    case undefined:
      return execute();
    case 'refused':
      throw new Error('connect ECONNREFUSED');
    case 'answer-lost':
      await execute();
      throw new Error('read ECONNRESET');
    case 'hangs':
      return never();
    case 'ghost':
      await passing(there, fault.afterMs);
      await execute();
      return never();
    case 'slow': {
      await passing(there, fault.thereMs);
      const answer = await execute();
      await passing(there, fault.backMs);
      return answer;
    }
  }
}

/** The calls of a store that reach the database; `readAgain` is the look at a row that was just acquired. */
export type StoreCall = 'prepare' | 'readTable' | 'readSample' | 'readAgain' | 'readRow' | 'write' | 'rememberLayout';

/** A process's connection to a worker table in memory, with faults. The database has a clock and timers of its own. */
export class FaultStore implements WorkerStore {
  /** Every call that was made, in order. */
  readonly calls: StoreCall[] = [];
  readonly writes: WorkerWrite[] = [];
  isClosed = false;
  abandoned = 0;
  /** Decides what happens to a call when no fault is lined up for it. */
  faultFor: (call: StoreCall) => Fault | undefined = () => undefined;
  /** Told of every fault that a call really meets. */
  onFault: (call: StoreCall, fault: Fault) => void = () => undefined;
  /** What comparing time zones answers; a table in memory has none. */
  checkForeignTimes?: () => Promise<void>;
  private readonly linedUp: { readonly call: StoreCall; readonly fault: Fault | undefined }[] = [];
  protected memory: MemoryWorkerStore;

  constructor(
    table: MemoryWorkerTable,
    protected readonly process: VirtualTime,
    readonly database: VirtualTime,
    /** See grantReachMs. */
    protected readonly reachMs = 0,
  ) {
    this.memory = this.storeOf(table);
  }

  /** Goes on with another table, as after a failover. */
  attach(table: MemoryWorkerTable): void {
    this.memory = this.storeOf(table);
  }

  /** The next calls of that kind that have nothing lined up meet these faults, one each; undefined for none. */
  next(call: StoreCall, ...faults: (Fault | undefined)[]): void {
    this.linedUp.push(...faults.map((fault) => ({ call, fault })));
  }

  /** Every call is refused from now on. */
  goDown(): void {
    this.faultFor = () => ({ kind: 'refused' });
  }

  comeBack(): void {
    this.faultFor = () => undefined;
  }

  prepare(workers: WorkerRange): Promise<void> {
    return this.through('prepare', () => this.memory.prepare(workers));
  }

  readTable(): Promise<WorkerTable> {
    return this.through('readTable', () => this.memory.readTable());
  }

  readSample(request: SampleRequest): Promise<WorkerSample> {
    const call = request.graceMs === INCLUDE_HELD ? 'readAgain' : 'readSample';
    return this.through(call, () => this.memory.readSample(request));
  }

  readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.through('readRow', () => this.memory.readRow(id));
  }

  write(write: WorkerWrite): Promise<boolean> {
    this.writes.push(write);
    return this.through('write', () => this.memory.write(write));
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.through('rememberLayout', () => this.memory.rememberLayout(fingerprint));
  }

  fence(request: FenceRequest): Promise<number> {
    return this.memory.fence(request);
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.memory.durabilityWarnings();
  }

  abandon(): void {
    this.abandoned++;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  /** The table on the other end; a subclass may put a faulty database there. */
  protected storeOf(table: MemoryWorkerTable): MemoryWorkerStore {
    return new MemoryWorkerStore(table, () => this.database.wall, this.reachMs);
  }

  private async through<T>(call: StoreCall, execute: () => Promise<T>): Promise<T> {
    if (this.process.isStopped) return never();
    this.calls.push(call);
    const fault = this.takeFault(call);
    if (fault !== undefined) this.onFault(call, fault);
    const answer = await meet(fault, this.database, execute);
    if (this.process.isStopped) return never();
    if (this.process.isPaused) await passing(this.process, 0);
    return answer;
  }

  private takeFault(call: StoreCall): Fault | undefined {
    const index = this.linedUp.findIndex((each) => each.call === call);
    return index < 0 ? this.faultFor(call) : this.linedUp.splice(index, 1)[0]!.fault;
  }
}
