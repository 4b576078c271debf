import { RaindropError, type Layout, type LeaseEvent } from '@raindrop/core';
import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import { KeeperBench, type KeeperBenchOptions } from '../../support/engine/keeper-bench.js';
import { TurnClock } from '../../../libs/node/src/system/system-ports.js';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import type { VirtualTime } from '../../support/engine/virtual-time.js';
import type { Asking, Notice } from './actions.js';
import type { Invariants, Issuer } from './invariants.js';
import { ServerSessions, SESSION_AGES } from './server-sessions.js';
import type { SimulatedDatabase } from './simulated-database.js';
import { inWords } from './trace.js';
import { WitnessedStore } from './witnessed-store.js';

/** How long an async call waits for its ID. */
const ASYNC_TIMEOUT_MS = 3_000;

/** What a process is started with, and where it says what happens. */
export interface Birth {
  readonly name: string;
  readonly options: KeeperBenchOptions & { readonly database: SimulatedDatabase; readonly seed: number };
  readonly invariants: Invariants;
  readonly onRefusal: (code: string) => void;
  readonly onEvent: (type: LeaseEvent['type']) => void;
  /** For the trace: what happens, in words. */
  readonly say?: ((text: string) => void) | undefined;
  /** For a mutant: all writes of this process, and of its copies, carry one token. */
  readonly oneToken?: boolean;
  /** It reads its clock as a real process does. */
  readonly turnClock: boolean;
}

/** One process: the real keeper and generator, and what is known about it from outside. */
export class SimulatedProcess implements Issuer {
  readonly bench: KeeperBench;
  readonly store: WitnessedStore;
  readonly leaseMs: number;
  /** How far its IDs may be ahead of the database's clock: a skew when it was checked, a jump since then, and borrowed ticks. */
  readonly furthestAheadMs: number;
  name: string;
  /** Why its start has failed; it ends then. */
  startFailure: { readonly code: string; readonly atMs: number } | undefined;
  isClosed = false;
  /** Lives in lockstep with this one and is not seen by anybody, until it becomes a copy. */
  shadow: SimulatedProcess | undefined;
  /** False while the wall clock shows what it did at the last call: then the library takes no second look. */
  clockMoved = true;

  private isShadow = false;
  /** In this turn of the event loop. */
  private hasLooked = false;
  private hasLost = false;
  private lastWall = Number.NaN;

  constructor(private readonly birth: Birth) {
    const { options } = birth;
    this.name = birth.name;
    this.leaseMs = options.lease?.leaseMs ?? 60_000;
    const { maxClockSkewMs = 30_000 } = options.lease ?? {};
    const { maxAheadMs = 1_000 } = options.generator ?? {};
    // The clocks of servers that take turns are apart as well.
    const skews = options.database.servers === undefined ? 2 : 4;
    this.furthestAheadMs = skews * maxClockSkewMs + maxAheadMs + 2 * (options.resolved?.layout.unitMs ?? 0);
    this.bench = new KeeperBench({
      ...options,
      ...(birth.turnClock && { clock: (time) => new TurnClock(() => time.wall) }),
      makeStore: (_, process) => this.storeFor(process),
      onEvent: (event) => this.heard(event),
    });
    if (birth.oneToken === true) Object.assign(this.bench.time.randomness, { token: () => `token of ${options.seed}` });
    this.store = this.bench.store as WitnessedStore;
  }

  start(withShadow: boolean): void {
    if (withShadow) {
      const shadow = new SimulatedProcess({ ...this.birth, name: `${this.name}'s shadow` });
      shadow.isShadow = true;
      shadow.store.follow(this.store);
      this.shadow = shadow;
    }
    for (const each of this.both) {
      each.bench.keeper.start().catch((error: unknown) => {
        each.startFailure = { code: codeOf(error), atMs: each.bench.time.monotonicMs };
        each.birth.say?.(`  ${each.name}: could not start, ${codeOf(error)}`);
      });
    }
  }

  get layout(): Layout {
    return this.bench.resolved.layout;
  }

  /** Closed on purpose, or learned that its worker is gone: not one more ID. */
  get mustNotIssue(): boolean {
    return this.isClosed || this.hasLost;
  }

  get seed(): number {
    return this.birth.options.seed;
  }

  get hasTurnClock(): boolean {
    return this.birth.turnClock;
  }

  get canRun(): boolean {
    return !this.bench.time.isStopped && !this.bench.time.isPaused;
  }

  kill(): void {
    for (const each of this.both) each.bench.kill();
  }

  suspend(): void {
    for (const each of this.both) each.bench.time.suspend();
  }

  pause(): void {
    for (const each of this.both) each.bench.pause();
  }

  resume(): void {
    for (const each of this.both) each.bench.resume();
  }

  step(ms: number): void {
    for (const each of this.both) each.bench.time.step(ms);
  }

  setWall(ms: number): void {
    for (const each of this.both) each.bench.time.setWall(ms);
  }

  close(): void {
    for (const each of this.both) {
      each.isClosed = true;
      void each.bench.keeper.close();
    }
  }

  /** The shadow becomes a process of its own. */
  copy(name: string, notice: Notice, cut: 'refused' | 'hangs', seed: number): SimulatedProcess {
    const copy = this.shadow!;
    this.shadow = undefined;
    copy.isShadow = false;
    copy.name = name;
    copy.store.part(cut);
    copy.bench.time.reseed(seed);
    if (notice === 'process id') copy.bench.processId = 2;
    else copy.bench.keeper.afterRestore();
    if (notice === 'both restored') {
      this.bench.keeper.afterRestore();
      this.birth.invariants.noticed(this.store);
    }
    return copy;
  }

  /** Asks for IDs, as far as they come. */
  issue(asking: Asking): void {
    if (!this.canRun) return;
    const seen = this.bench.time.wall;
    // Of a turn clock one look may serve 256 calls of a turn.
    this.clockMoved = seen !== this.lastWall && !(this.birth.turnClock && this.hasLooked);
    this.lastWall = seen;
    if (!this.hasLooked) setImmediate(() => (this.hasLooked = false));
    this.hasLooked = true;
    const mine = this.ask(asking);
    const theirs = this.shadow?.ask(asking);
    if (theirs !== undefined && mine !== theirs) throw new TypeError('A shadow does not do what its process does.');
  }

  /** @returns what came of it, to compare */
  private ask({ code, count, how }: Asking): string {
    const { generator } = this.bench;
    if (how === 'async') {
      for (let call = 0; call < count; call++) this.askAsync(code);
      return 'later';
    }
    if (how === 'async batch') {
      this.askBatchAsync(code, count);
      return 'later';
    }
    const ids: bigint[] = [];
    let refusal: unknown;
    try {
      if (how === 'batch') ids.push(...generator.nextIds(count, code));
      else while (ids.length < count) ids.push(generator.nextId(code));
    } catch (error) {
      refusal = error;
    }
    this.record(code, ids, true);
    if (refusal === undefined) return ids.join();
    this.refused(refusal);
    return `${ids.join()} ${codeOf(refusal)}`;
  }

  private storeFor(process: VirtualTime): WitnessedStore {
    const { invariants, options } = this.birth;
    const { table, time, servers } = options.database;
    const lease = resolveLeaseOptions(options.lease ?? {});
    // Where commits can be lost the lease reckons with it, and the rows tell of no loss.
    const reachMs = lease.commitLossWindowMs > 0 ? 0 : grantReachMs(lease);
    if (servers === undefined) return new WitnessedStore(invariants, table, process, time, reachMs);
    const ages = SESSION_AGES.of(lease);
    const random = new SeededRandom(options.seed);
    const openingMs = (): number => (random.chance(0.5) ? 0 : random.below(lease.opTimeoutMs));
    const sessions = new ServerSessions(servers, process, ages, openingMs);
    return new WitnessedStore(invariants, table, process, time, ages.reachMs, sessions);
  }

  private heard(event: LeaseEvent): void {
    const { type } = event;
    if (type === 'lease-lost') this.hasLost = true;
    if (type === 'database-regression') this.birth.invariants.sawRegression(this.store);
    if (type === 'lease-acquired' || type === 'lease-regained') this.birth.invariants.began(this.store);
    if (type === 'lease-acquired' || type === 'lease-regained') this.hasLost = false;
    if (!this.isShadow && type !== 'lease-renewed') this.birth.onEvent(type);
    if (this.birth.say !== undefined && !this.isShadow) this.birth.say(`  ${this.name}: ${inWords(event)}`);
  }

  private askAsync(code: string | undefined): void {
    this.bench.generator.nextIdAsync(code, { timeoutMs: ASYNC_TIMEOUT_MS }).then(
      (id) => this.record(code, [id], false),
      (error: unknown) => this.refused(error),
    );
  }

  private askBatchAsync(code: string | undefined, count: number): void {
    this.bench.generator.nextIdsAsync(count, code, { timeoutMs: ASYNC_TIMEOUT_MS }).then(
      (ids) => this.record(code, ids, false),
      (error: unknown) => this.refused(error),
    );
  }

  private record(code: string | undefined, ids: readonly bigint[], atOnce: boolean): void {
    if (this.isShadow) return;
    if (ids.length > 0) {
      this.birth.say?.(
        `  ${this.name}: issued ${ids.map((id) => this.bench.at(id)).join(' ')} (tick:worker:lane:sequence)`,
      );
    }
    for (const id of ids) this.birth.invariants.issued(this, code, id, atOnce);
  }

  private refused(error: unknown): void {
    if (this.isShadow) return;
    this.birth.say?.(`  ${this.name}: refused, ${codeOf(error)}`);
    this.birth.onRefusal(codeOf(error));
  }

  private get both(): readonly SimulatedProcess[] {
    return this.shadow === undefined ? [this] : [this, this.shadow];
  }
}

/** The stable code of an error; those without one are bugs. */
function codeOf(error: unknown): string {
  return error instanceof RaindropError ? error.errorCode : `untyped: ${String(error)}`;
}
