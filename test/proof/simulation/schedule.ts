import { describe, type Action } from './actions.js';
import { Invariants, type Violation } from './invariants.js';
import { resolve } from './layout-choice.js';
import { PROCESSES, type Plan } from './plan.js';
import { SimulatedDatabase } from './simulated-database.js';
import { SimulatedBackfill } from './simulated-backfill.js';
import { SimulatedOperator, type Operation } from './simulated-operator.js';
import { SimulatedProcess } from './simulated-process.js';
import type { Trace } from './trace.js';

/** What came of a schedule. */
export interface Outcome {
  /** Empty when every invariant held. */
  readonly violations: readonly Violation[];
  readonly issued: number;
  readonly simulatedMs: number;
  /** How often each event really came about. */
  readonly fired: Readonly<Record<string, number>>;
  /** Calls and starts that were refused, by code. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Of all IDs in their order. */
  readonly digest: number;
}

type ProcessAction =
  'kill' | 'release' | 'pause' | 'resume' | 'suspend' | 'step' | 'correct' | 'fault' | 'reconnect' | 'stray' | 'break';

/** Runs a plan on the real keepers and generators, in virtual time, and stops at the first violation. */
export class Schedule {
  private readonly database: SimulatedDatabase;
  private readonly layouts;
  private readonly invariants: Invariants;
  private readonly operator: SimulatedOperator;
  private readonly processes: (SimulatedProcess | undefined)[] = Array.from({ length: PROCESSES });
  /** Closed, and still asked for IDs. */
  private readonly former: (SimulatedProcess | undefined)[] = Array.from({ length: PROCESSES });
  private readonly down: ('refused' | 'hangs' | undefined)[] = Array.from({ length: PROCESSES });
  private backfills: SimulatedBackfill[] = [];
  private readonly fired: Record<string, number> = {};
  private readonly refusals: Record<string, number> = {};
  private born = 0;
  private readonly pausedAt = new Map<SimulatedProcess, number>();

  constructor(
    private readonly plan: Plan,
    private readonly trace?: Trace,
    /** Makes every process of one seed use one token: see mutants. */
    private readonly constantTokens = false,
  ) {
    const { setup } = plan;
    this.database = new SimulatedDatabase(setup.wall, setup, (what) => this.note(what));
    this.layouts = setup.layouts.map(resolve);
    this.invariants = new Invariants(
      this.layouts.map(({ layout }) => layout),
      () => this.now,
      () => this.database.presentWall,
      trace && ((text) => trace.add(this.now, text)),
      () => this.database.keepBackup(),
    );
    this.operator = new SimulatedOperator(
      this.database,
      this.invariants,
      setup,
      this.layouts.map(({ layout }) => layout),
      () => this.living().map(({ layout }) => layout),
      (what) => this.note(what),
    );
  }

  async run(): Promise<Outcome> {
    const { violations } = this.invariants;
    for (const action of this.plan.actions) {
      this.trace?.add(this.now, describe(action));
      this.database.keepBackup();
      await this.perform(action);
      this.invariants.lookAtClock();
      if (violations.length > 0) break;
    }
    // What was asked for last may still be on its way.
    await this.database.advance(0);
    for (const { message } of violations) this.trace?.add(this.now, `VIOLATION: ${message}`);
    // Nothing of this schedule goes on behind the next one's back.
    for (const each of [...this.processes, ...this.former, ...this.backfills]) each?.kill();
    return {
      violations,
      issued: this.invariants.issuedCount,
      simulatedMs: this.now,
      fired: this.fired,
      refusals: this.refusals,
      digest: this.invariants.digest,
    };
  }

  private async perform(action: Action): Promise<void> {
    switch (action.kind) {
      case 'pass':
        await this.database.advance(action.ms);
        this.restartFailed();
        break;
      case 'block':
        this.note(action.ms > this.leaseMs ? 'long block' : 'block');
        this.database.time.freeze(action.ms);
        break;
      case 'issue':
        this.former[action.process]?.issue(action);
        this.processes[action.process]?.issue(action);
        for (const each of this.backfills) each.issue(2);
        break;
      case 'backfill':
        this.backfill(action);
        break;
      case 'end-backfills':
        this.endBackfills();
        break;
      case 'step-database':
        this.database.stepClock(action.ms);
        break;
      case 'correct-database':
        this.database.correctClock();
        break;
      case 'outage':
      case 'recover':
        this.connect(action.process, action.kind === 'outage' ? action.fault : undefined);
        break;
      case 'start':
        if (action.layout > 0) this.note('rollout');
        this.start(action);
        break;
      case 'copy':
        this.copy(action);
        break;
      case 'hide':
        this.database.hide(action.row, this.invariants);
        break;
      case 'show':
        this.database.show(action.row, this.invariants);
        break;
      case 'foreign':
        this.database.takeAsForeigner(action.row, this.invariants);
        break;
      case 'snapshot':
        this.database.keepSnapshot();
        break;
      case 'restore':
        this.database.fallBack(this.invariants);
        break;
      case 'failover':
        this.database.failOver(action, this.invariants);
        break;
      case 'mark-backup':
        this.database.markBackup();
        break;
      case 'operate':
        await this.operate(action);
        break;
      case 'step-all':
        this.note('all clocks step');
        this.database.stepStore(action.ms);
        for (const each of this.processes) each?.step(action.ms);
        break;
      case 'correct-all':
        this.database.correctStore();
        this.processes.forEach((each, place) => each?.setWall(this.rightWall(place)));
        break;
      case 'kill':
      case 'release':
      case 'pause':
      case 'resume':
      case 'step':
      case 'correct':
      case 'suspend':
      case 'reconnect':
      case 'stray':
      case 'break':
      case 'fault': {
        const process = this.processes[action.process];
        if (process !== undefined) this.handle(action, process);
      }
    }
  }

  private handle(action: Extract<Action, { readonly kind: ProcessAction }>, process: SimulatedProcess): void {
    const { time } = process.bench;
    switch (action.kind) {
      case 'kill':
        if (!time.isStopped) this.note('kill');
        process.kill();
        break;
      case 'release':
        if (time.isStopped || process.isClosed) return;
        this.note('release');
        process.close();
        break;
      case 'pause':
        if (!process.canRun) return;
        this.pausedAt.set(process, this.now);
        process.pause();
        break;
      case 'suspend':
        if (!process.canRun) return;
        this.note('suspension');
        this.pausedAt.set(process, this.now);
        if (action.atRead) process.store.suspendAtRead(true);
        else process.suspend();
        break;
      case 'reconnect':
        process.store.abandon();
        break;
      case 'stray':
        process.store.stray();
        break;
      case 'break':
        process.store.breakAtFailover();
        break;
      case 'resume': {
        process.store.suspendAtRead(false);
        const since = this.pausedAt.get(process);
        if (since === undefined || !time.isPaused) return;
        this.note(this.now - since > this.leaseMs ? 'long pause' : 'pause');
        process.resume();
        break;
      }
      case 'step':
        this.note(`${Math.abs(action.ms) < 86_400_000 ? '' : 'huge '}step ${action.ms < 0 ? 'back' : 'forward'}`);
        process.step(action.ms);
        break;
      case 'correct':
        process.setWall(this.rightWall(action.process));
        break;
      case 'fault':
        process.store.next(action.call, action.fault);
    }
  }

  /** A crash sets no clock right: the new process has the wall clock of the one before. */
  private start({
    process: place,
    layout,
    seed,
    shadow,
    turnClock,
    trouble,
  }: Extract<Action, { kind: 'start' }>): void {
    const before = this.processes[place];
    if (before !== undefined && !before.bench.time.isStopped) {
      if (!before.isClosed && before.startFailure === undefined) return;
      this.former[place]?.kill();
      this.former[place] = before;
    }
    const { setup } = this.plan;
    const process = new SimulatedProcess({
      name: `process ${place}.${this.born++}`,
      options: {
        database: this.database,
        wall: before?.bench.time.wall ?? this.rightWall(place),
        seed,
        resolved: this.layouts[layout % this.layouts.length]!,
        lease: place % 2 === 0 ? setup.lease : setup.otherLease,
        generator: setup.generator,
        code: `code of ${place}`,
      },
      invariants: this.invariants,
      onRefusal: (code) => this.refuse(code),
      onEvent: (type) => this.note(type),
      say: this.trace && ((text) => this.trace!.add(this.now, text)),
      oneToken: this.constantTokens,
      turnClock,
    });
    this.settleIn(place, process);
    if (trouble !== undefined) process.store.next(trouble.call, trouble.fault);
    process.start(shadow);
  }

  private backfill(action: Extract<Action, { kind: 'backfill' }>): void {
    const { setup } = this.plan;
    this.note('backfill');
    const birth = {
      name: `backfill ${this.born++}`,
      options: {
        database: this.database,
        wall: this.rightWall(action.seed % PROCESSES),
        seed: action.seed,
        resolved: this.layouts[action.layout % this.layouts.length]!,
        lease: action.seed % 2 === 0 ? setup.lease : setup.otherLease,
        generator: setup.generator,
        code: 'a backfill',
      },
      invariants: this.invariants,
      onRefusal: (code: string) => this.refuse(code),
      onEvent: () => undefined,
      say: this.trace && ((text: string) => this.trace!.add(this.now, text)),
      oneToken: this.constantTokens,
      turnClock: false,
    };
    this.backfills.push(new SimulatedBackfill(birth, action, () => this.note('reserved past')));
  }

  private endBackfills(): void {
    if (this.backfills.some((each) => each.isReserved)) this.note('end of a backfill');
    for (const each of this.backfills) each.kill();
    this.backfills = [];
  }

  /** A supervisor starts what could not start once more, after a pause. */
  private restartFailed(): void {
    this.processes.forEach((process, place) => {
      const failure = process?.startFailure;
      if (process === undefined || failure === undefined || process.bench.time.isStopped || process.isClosed) return;
      if (this.now - failure.atMs < this.leaseMs / 10) return;
      this.invariants.refused(failure.code);
      this.refuse(`start: ${failure.code}`);
      const layout = this.layouts.indexOf(process.bench.resolved);
      const seed = (Math.imul(process.seed, 0x9e3779b1) + 1) >>> 0;
      this.start({ kind: 'start', process: place, layout, seed, shadow: false, turnClock: process.hasTurnClock });
    });
  }

  private copy({ process, into, notice, cut, seed }: Extract<Action, { kind: 'copy' }>): void {
    const original = this.processes[process];
    if (original?.shadow === undefined || !original.canRun || original.isClosed || process === into) return;
    this.note('copy');
    const victim = this.processes[into];
    if (victim !== undefined && !victim.bench.time.isStopped) this.note('kill');
    victim?.kill();
    const copy = original.copy(`process ${into}.${this.born++}, a copy of ${original.name}`, notice, cut, seed);
    this.settleIn(into, copy);
    // No copy takes zero time: a process that reads a clock sees it advance.
    this.database.time.freeze(2);
  }

  private async operate({ cutOff, restore, fencing }: Operation): Promise<void> {
    this.endBackfills();
    this.processes.forEach((process, place) => {
      const how = cutOff.find((each) => each.process === place);
      if (how !== undefined) return this.connect(place, how.fault);
      if (process?.bench.time.isStopped === false) this.note('kill');
      process?.kill();
    });
    if (restore === 'former primary') this.database.goBack(this.invariants);
    else if (restore !== undefined) this.database.restoreBackup(restore, this.invariants);
    await this.operator.fence(fencing);
  }

  /** Those that may issue, cut off or not. */
  private living(): SimulatedProcess[] {
    return [...this.processes, ...this.backfills.map((each) => each.process)].filter(
      (each) => each !== undefined && !each.bench.time.isStopped && !each.isClosed,
    ) as SimulatedProcess[];
  }

  private settleIn(place: number, process: SimulatedProcess): void {
    process.store.onFault = (call, { kind }) => this.note(`${kind} ${call}`);
    process.store.faultFor = () => faultOf(this.down[place]);
    this.processes[place] = process;
  }

  private connect(only: number | undefined, fault: 'refused' | 'hangs' | undefined): void {
    if (fault !== undefined) this.note(only === undefined ? 'outage' : 'partition');
    for (let place = 0; place < PROCESSES; place++) if (only === undefined || only === place) this.down[place] = fault;
  }

  /** What a right clock shows; it may be apart from the database's by as much as is permitted. */
  private rightWall(place: number): number {
    const { hostsAheadMs } = this.plan.setup;
    if (hostsAheadMs === undefined) return this.database.trueWall;
    return this.database.presentWall + Math.round(hostsAheadMs * [1, -1, 0.5, 0][place]!);
  }

  private get leaseMs(): number {
    return this.plan.setup.lease.leaseMs ?? 60_000;
  }

  private get now(): number {
    return this.database.elapsedMs;
  }

  private note(what: string): void {
    this.fired[what] = (this.fired[what] ?? 0) + 1;
  }

  private refuse(code: string): void {
    this.invariants.refused(code);
    this.refusals[code] = (this.refusals[code] ?? 0) + 1;
  }
}

function faultOf(kind: 'refused' | 'hangs' | undefined): { readonly kind: 'refused' | 'hangs' } | undefined {
  return kind === undefined ? undefined : { kind };
}
