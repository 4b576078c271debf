import { TIME_UNITS } from '@raindrop/core';
import type { Fault, StoreCall } from '../../support/engine/fault-store.js';
import type { Action } from './actions.js';
import { ROWS } from './layout-choice.js';
import { PROCESSES, type Family, type Plan, type Setup } from './plan.js';
import { randomSetup, type SetupKind } from './random-setup.js';
import { RandomTrouble } from './random-trouble.js';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import { SERVERS } from './simulated-servers.js';
import { stories, type StoryName } from './stories.js';

const STEPS = 64;

/** Of so many seeds one has backfills: their rows and faults would else be others in every schedule. */
const PAST_SEEDS = 8;

/** Of so many seeds one is about restores. */
const RESTORE_SEEDS = 10;

/** The first of them. */
export const FIRST_RESTORE_SEED = 7;

/** The seed after that of a schedule about restores which is about them, too. */
export const nextRestoreSeed = (seed: number): number => seed + RESTORE_SEEDS;

function kindOf(seed: number): SetupKind {
  if (seed % RESTORE_SEEDS === FIRST_RESTORE_SEED) return 'restores';
  return seed % 5 === 4 ? 'failovers' : 'others';
}

/** A fourth of the schedules about restores has backfills. */
function hasBackfills(seed: number): boolean {
  return seed % PAST_SEEDS === PAST_SEEDS - 2 || seed % (4 * RESTORE_SEEDS) === FIRST_RESTORE_SEED + RESTORE_SEEDS;
}

/** How many steps a layout serves where two of them take turns. */
const ERA_STEPS = 20;

/** What may happen in one step, by how often. */
type Event =
  | 'nothing'
  | 'kill'
  | 'release'
  | 'pause'
  | 'block'
  | 'step'
  | 'step-database'
  | 'outage'
  | 'fault'
  | 'copy'
  | 'hide'
  | 'foreign'
  | 'restore'
  | 'suspend'
  | 'failover'
  | 'stray'
  | 'reconnect'
  | StoryName;

const ALWAYS: Readonly<Partial<Record<Event, number>>> = {
  nothing: 10,
  kill: 22,
  release: 9,
  pause: 8,
  block: 3,
  outage: 5,
  fault: 30,
  'cut off': 3,
};

const EVENTS: Readonly<Record<Family, Readonly<Partial<Record<Event, number>>>>> = {
  'one-layout': { ...ALWAYS, step: 20, 'step-database': 3, copy: 6, hide: 2, foreign: 1, adopted: 1 },
  'disjoint-layouts': { ...ALWAYS, step: 20, 'step-database': 3, copy: 3, hide: 2, foreign: 1 },
  // A row that is marked deleted takes with it what layouts have issued there: a known limit.
  'overlapping-layouts': { ...ALWAYS, step: 10, 'step-database': 2, copy: 2, overtaken: 5, buried: 3 },
  // What a database forgets only clocks can tell: they are right here, as the documentation demands.
  'lost-commits': { ...ALWAYS, restore: 12, 'late answer': 8, 'forgotten renewals': 12 },
  failovers: {
    ...ALWAYS,
    kill: 12,
    fault: 15,
    suspend: 6,
    failover: 3,
    stray: 6,
    reconnect: 6,
    restore: 2,
    'late answer': 2,
    'forgotten renewals': 6,
    'old primary': 2,
    'borrowed at the old primary': 6,
    'expired at the old primary': 4,
    'same term again': 5,
    'lost while waiting': 2,
    'lost while vouching': 2,
    'lost layout': 2,
  },
  restores: {
    ...ALWAYS,
    kill: 12,
    fault: 15,
    suspend: 3,
    failover: 1,
    stray: 2,
    reconnect: 4,
    'restored backup': 6,
    'another layout since the backup': 3,
    'former primary again': 3,
    'fenced amid failovers': 3,
  },
};

/** After that no older backup is of use: nothing shows that clocks were ahead. */
const LAST_STORY: StoryName = 'loss in the future';

/** Makes up a schedule: the same seed makes the same one. */
export function randomPlan(seed: number): Plan {
  return new Planner(seed).plan();
}

class Planner {
  private readonly random: SeededRandom;
  private readonly setup: Setup;
  private readonly actions: Action[] = [];
  /** The actions of a later step. */
  private readonly due = new Map<number, Action[]>();
  private readonly leaseMs: number;
  private readonly trouble: RandomTrouble;
  private readonly stories: Readonly<Record<StoryName, (process: number) => void>>;
  private stepNumber = 0;
  /** Draws what is about backfills; undefined where there are none. */
  private readonly past: SeededRandom | undefined;

  constructor(private readonly seed: number) {
    this.random = new SeededRandom(seed);
    this.past = hasBackfills(seed) ? new SeededRandom(seed + 1_000_003) : undefined;
    this.setup = randomSetup(this.random, kindOf(seed));
    this.leaseMs = this.setup.lease.leaseMs ?? 60_000;
    this.trouble = new RandomTrouble(this.random, this.setup.lease.opTimeoutMs ?? 3_000);
    this.stories = stories({
      random: this.random,
      trouble: this.trouble,
      setup: this.setup,
      do: (action) => this.do(action),
      start: (process, layout) => this.start(process, layout),
      layout: () => this.layout(),
      issue: () => this.issue(),
    });
  }

  plan(): Plan {
    for (let process = 0; process < PROCESSES; process++) this.do(this.start(process));
    this.do({ kind: 'pass', ms: 10 });
    const changeOver = this.random.below(STEPS);
    for (; this.stepNumber < STEPS; this.stepNumber++) {
      for (const action of this.due.get(this.stepNumber) ?? []) this.do(action);
      if (this.stepNumber === changeOver) this.changeOver();
      this.happen();
      if (this.past !== undefined && this.past.chance(0.3)) this.backfill(this.past);
      for (let rounds = this.random.below(3); rounds >= 0; rounds--) {
        this.issue();
        this.do({ kind: 'pass', ms: this.pause() });
      }
    }
    if (this.setup.family === 'restores' && this.random.chance(0.8)) this.stories[LAST_STORY](0);
    return { seed: this.seed, setup: this.setup, actions: this.actions };
  }

  private happen(): void {
    const { random, trouble } = this;
    const process = random.below(PROCESSES);
    const event = random.weighted(EVENTS[this.setup.family]);
    switch (event) {
      case 'nothing':
        return;
      case 'kill':
        this.do({ kind: 'kill', process });
        return this.startAgain(process);
      case 'release':
        this.do({ kind: 'release', process });
        return this.startAgain(process);
      case 'pause':
        this.do({ kind: 'pause', process });
        return this.later(random.below(6) + 1, { kind: 'resume', process });
      case 'block':
        return this.do({ kind: 'block', ms: trouble.about(this.leaseMs * random.pick([0.05, 0.4, 0.95, 1.05, 4])) });
      case 'step':
        this.do({ kind: 'step', process, ms: trouble.clockStep() });
        if (random.chance(0.85)) this.later(random.below(5) + 1, { kind: 'correct', process });
        return;
      case 'step-database':
        this.do({ kind: 'step-database', ms: trouble.databaseStep() });
        return this.later(random.below(8) + 1, { kind: 'correct-database' });
      case 'outage': {
        const whom = random.chance(0.5) ? process : undefined;
        this.do({ kind: 'outage', process: whom, fault: random.pick(['refused', 'hangs']) });
        return this.later(random.below(6) + 1, { kind: 'recover', process: whom });
      }
      case 'fault':
        return this.do({ kind: 'fault', process, ...trouble.running() });
      case 'copy':
        return this.copy(process);
      case 'hide': {
        const row = random.below(ROWS) + 1;
        this.do({ kind: 'hide', row });
        return this.later(random.below(10) + 1, { kind: 'show', row });
      }
      case 'foreign':
        // Without consent it would be the end of the schedule: no process starts on a table with foreign rows.
        if (this.setup.lease.adoptForeign !== true) return;
        // Always the same one: a process that waits for its adoption has to work with the others.
        return this.do({ kind: 'foreign', row: ROWS });
      case 'restore':
        this.do({ kind: 'snapshot' });
        if (random.chance(0.6)) {
          // The lost write may be the one that acquired a process's row.
          this.do({ kind: random.pick(['kill', 'release']), process });
          this.do(this.start(process));
        }
        return this.failover(process);
      case 'suspend': {
        this.do({ kind: 'suspend', process, atRead: random.chance(0.5) });
        return this.later(random.below(6) + 1, { kind: 'resume', process });
      }
      case 'failover':
        return this.failOver();
      case 'stray':
      case 'reconnect':
        return this.do({ kind: event, process });
      case 'old primary':
      case 'expired at the old primary':
      case 'borrowed at the old primary':
      case 'same term again':
      case 'lost while waiting':
      case 'lost while vouching':
      case 'lost layout':
      case 'restored backup':
      case 'another layout since the backup':
      case 'former primary again':
      case 'fenced amid failovers':
      case 'loss in the future':
      case 'cut off':
      case 'adopted':
      case 'overtaken':
      case 'buried':
      case 'late answer':
      case 'forgotten renewals':
        return this.stories[event](process);
    }
  }

  /** A job for the past, near the rows' odometers or long before them; some of its requests meet trouble. */
  private backfill(past: SeededRandom): void {
    const { leaseMs } = this;
    const unitMs = Math.max(...this.setup.layouts.map(({ unit }) => TIME_UNITS[unit].ms));
    const agoMs = Math.ceil(Math.max(unitMs, leaseMs) * past.pick([0.01, 0.1, 0.1, 0.5, 0.5, 1, 1, 3, 10, 1_000]));
    const forMs = Math.ceil(agoMs * past.pick([0.001, 0.1, 0.5, 1]));
    const opTimeoutMs = this.setup.lease.opTimeoutMs ?? 3_000;
    const fault = past.pick<Fault>([
      { kind: 'refused' },
      { kind: 'answer-lost' },
      { kind: 'hangs' },
      { kind: 'ghost', afterMs: Math.ceil(opTimeoutMs * past.pick([0.5, 2])) },
      { kind: 'slow', thereMs: Math.ceil(opTimeoutMs * 0.4), backMs: Math.ceil(opTimeoutMs * past.pick([0.3, 1])) },
    ]);
    const call = past.pick<StoreCall>(['write', 'write', 'readAgain', 'readRow', 'readTable']);
    const faults = past.chance(0.4) ? [{ call, fault: past.chance(0.5) ? [fault] : [undefined, fault] }] : [];
    const layout = past.chance(0.7) ? 0 : 1;
    const stepMs = Math.max(1, Math.ceil(forMs / past.pick([1, 5, 20, 100])));
    const job = (laterMs = 0): Action => ({
      kind: 'backfill',
      layout,
      seed: past.bits(),
      forMs,
      stepMs,
      faults,
      // The same stretch, as seen from later.
      agoMs: agoMs + laterMs,
    });
    // Elsewhere some processes know of no window, as the documentation does not permit.
    const { lossMs, family } = this.setup;
    const isLost = lossMs > 0 && past.chance(0.7) && (family === 'lost-commits' || family === 'failovers');
    // Four processes have three rows: one of them makes room, or all.
    const makingRoom = past.chance(0.6) ? this.some(past, isLost ? PROCESSES : 1) : [];
    for (const process of makingRoom) this.do({ kind: past.chance(0.7) ? 'release' : 'kill', process });
    this.do({ kind: 'pass', ms: 1 });
    if (isLost) this.do({ kind: 'snapshot' });
    this.do(job());
    // Two at once.
    if (past.chance(0.3)) this.do(job());
    const lostAfterMs = Math.ceil(lossMs * past.pick([0.1, 0.5, 0.95]));
    if (isLost) {
      this.do({ kind: 'pass', ms: lostAfterMs });
      this.issue();
      this.do({ kind: 'restore' });
      this.do({ kind: 'pass', ms: 1 });
    }
    if (isLost || past.chance(0.3)) {
      this.do(job(isLost ? lostAfterMs + 1 : 0));
      this.do({ kind: 'pass', ms: Math.ceil(1.5 * lossMs) });
    }
    for (let rounds = past.below(4); rounds > 0; rounds--) {
      this.issue();
      this.do({ kind: 'pass', ms: 1 });
    }
    for (const process of makingRoom) this.later(past.below(3), this.start(process));
    if (past.chance(0.2)) this.later(past.below(4), { kind: 'end-backfills' });
  }

  /** So many processes, from any one on. */
  private some(past: SeededRandom, count: number): number[] {
    const first = past.below(PROCESSES);
    return Array.from({ length: count }, (_, index) => (first + index) % PROCESSES);
  }

  /** The database goes back in time; half the time a process cannot reach it afterwards, or is killed. */
  private failover(process: number): void {
    const { random } = this;
    const step = random.below(3) + 1;
    this.later(step, { kind: 'restore' });
    const whom = random.chance(0.5) ? process : random.below(PROCESSES);
    if (random.chance(0.3)) {
      this.later(step, { kind: 'outage', process: whom, fault: random.pick(['refused', 'hangs']) });
      this.later(step + random.below(20) + 1, { kind: 'recover', process: whom });
    } else if (random.chance(0.3)) this.later(step, { kind: 'kill', process: whom });
  }

  /** One server after the other, or the first one once more. */
  private failOver(): void {
    const { random } = this;
    const failover = (): Action => ({
      kind: 'failover',
      to: random.below(SERVERS),
      lackMs: Math.round(this.setup.lossMs * random.pick([0, 0.1, 0.5, 1])),
      livesOn: random.chance(0.6),
    });
    this.do(failover());
    for (let more = random.below(3); more > 0; more--) this.later(random.below(4), failover());
  }

  /** All that run the first layout end, and come back with the second. */
  private changeOver(): void {
    if (this.setup.family === 'restores' || this.setup.layouts.length < 2 || this.random.chance(0.3)) return;
    const how = this.random.pick(['kill', 'release'] as const);
    for (let process = 0; process < PROCESSES; process++) {
      this.do({ kind: how, process });
      this.later(1 + this.random.below(3), this.start(process, 1));
    }
  }

  private startAgain(process: number): void {
    const start = this.start(process);
    // A crash sets no clock right, but hosts come back as well.
    if (this.random.chance(0.2)) this.do({ kind: 'correct', process });
    if (this.random.chance(0.6)) this.do(start);
    else this.later(this.random.below(3) + 1, start);
  }

  private start(process: number, layout = this.layout()): Action {
    const { random } = this;
    // The requests of a start are few among many: they get their share of trouble.
    const trouble = random.chance(0.3) && { trouble: this.trouble.starting() };
    return {
      ...trouble,
      kind: 'start',
      process,
      layout,
      seed: this.random.bits(),
      shadow: this.hasCopies && this.random.chance(0.2),
      turnClock: random.chance(0.5),
    };
  }

  /** A layout is rolled out in the course of a schedule, with some back and forth. */
  private layout(): number {
    if (this.setup.layouts.length < 2) return 0;
    // One after the other, there and back: of two at once one would only be refused.
    if (this.setup.family === 'restores') return Math.floor(this.stepNumber / ERA_STEPS) % 2;
    return this.random.chance(0.1 + (0.8 * this.stepNumber) / STEPS) ? 1 : 0;
  }

  private get hasCopies(): boolean {
    return EVENTS[this.setup.family].copy !== undefined;
  }

  /** A new process with a shadow, and soon its copy in another's place. */
  private copy(process: number): void {
    const { random } = this;
    this.do({ kind: 'kill', process });
    this.do({ kind: 'start', process, layout: this.layout(), seed: random.bits(), shadow: true, turnClock: true });
    const into = (process + 1 + random.below(PROCESSES - 1)) % PROCESSES;
    const steps = random.below(5) + 1;
    // A batch that waits for more ticks lives on in both of them.
    if (random.chance(0.5)) {
      this.later(steps, { kind: 'issue', process, code: 'a', how: 'async batch', count: 40 });
      // What had all its IDs has answered.
      this.later(steps, { kind: 'pass', ms: 0 });
    }
    const isInFlight = random.chance(0.25);
    if (isInFlight) {
      // What is granted anew because of a jump is on its way when the memory is copied.
      const maxClockSkewMs = this.setup.lease.maxClockSkewMs ?? 30_000;
      this.later(steps, { kind: 'step', process, ms: Math.ceil(1.5 * maxClockSkewMs) });
      this.later(steps, { kind: 'issue', process, code: undefined, how: 'one', count: 1 });
      this.later(steps, { kind: 'correct', process });
      const backMs = this.trouble.about((this.setup.lease.opTimeoutMs ?? 3_000) * 0.5);
      this.later(steps, { kind: 'fault', process, call: 'write', fault: { kind: 'slow', thereMs: 0, backMs } });
      this.later(steps, { kind: 'pass', ms: 2 });
    }
    this.later(steps, {
      kind: 'copy',
      process,
      into,
      // Where both know, both write at once.
      notice: random.pick(['process id', 'copy restored', 'both restored', 'both restored']),
      cut: random.pick(['refused', 'hangs']),
      seed: random.bits(),
    });
    if (isInFlight) {
      this.later(steps, { kind: 'release', process: into });
      this.later(steps, { kind: 'pass', ms: 1 });
      this.later(steps, this.start(into));
    }
    for (const each of [process, into]) {
      if (random.chance(0.75)) this.later(steps, { kind: 'fault', process: each, ...this.trouble.rivalry() });
    }
  }

  private issue(): void {
    const { random } = this;
    for (let process = 0; process < PROCESSES; process++) {
      if (random.chance(0.3)) continue;
      const code = random.pick([undefined, undefined, 'a', 'b', 'c']);
      const how = random.weighted({ one: 8, batch: 1, async: 1, 'async batch': 1 });
      this.do({ kind: 'issue', process, code, how, count: random.below(random.chance(0.1) ? 40 : 6) + 1 });
    }
  }

  private pause(): number {
    const { random, leaseMs } = this;
    if (this.setup.lease.adoptForeign === true && random.chance(0.006)) return this.trouble.about(150_000);
    const share = random.pick([0.0001, 0.0005, 0.002, 0.02, 0.05, 0.1, 0.1, 0.2, 0.4, 1]);
    return random.chance(0.15) ? 0 : Math.ceil(this.trouble.about(leaseMs * share));
  }

  private do(action: Action): void {
    this.actions.push(action);
  }

  private later(steps: number, action: Action): void {
    const step = this.stepNumber + steps;
    this.due.set(step, [...(this.due.get(step) ?? []), action]);
  }
}
