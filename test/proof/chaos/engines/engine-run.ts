import { setTimeout as sleep } from 'node:timers/promises';
import { layoutOf } from '../chaos-options.js';
import { ChaosStage } from '../chaos-stage.js';
import { planFaults } from '../fault-plan.js';
import { FaultSquad } from '../fault-squad.js';
import { compareIds } from '../id-ledger.js';
import { CODES, type LeaseOrders } from '../issuing-messages.js';
import type { IssuingSlot } from '../issuing-slot.js';
import type { Engine, Scene, Side } from './engine.js';
import { makeEngineReport, type EngineReport, type EngineRunOptions } from './engine-report.js';
import { readGapless } from './gapless.js';
import { FAILOVER_LEASE, type Leg } from './leg.js';

const CHILD = 'test/proof/chaos/engines/engine-process';

const PROCESSES = 5;
const WORKERS = PROCESSES - 1;
const NUMBER_PROCESSES = 2;
const RATE = 80_000;
const NUMBER_RATE = 5_000;

/** Those of the processes, beside what happens to the servers. */
const PACE = 0.3;
const PACE_OF_CONTROL = 2;

/** Short, so that processes outlive theirs all the time. */
const LEASE_OF_ORIGINAL = { ...FAILOVER_LEASE, leaseMs: 2_000 };

const RECOVER_MS = 90_000;
const REST_MS = 1_500;
const LOOK_MS = 50;

/** One run: servers of its own, processes that issue from them, one fault of the servers after the other. */
export class EngineRun {
  private readonly stage: ChaosStage<Engine>;
  private readonly faults: Record<string, number> = {};

  constructor(
    private readonly leg: Leg,
    private readonly options: EngineRunOptions,
    private readonly signal: AbortSignal,
  ) {
    this.stage = new ChaosStage(options, signal);
  }

  /** @throws Error when it cannot be carried out, the signal's reason when it was interrupted */
  async run(): Promise<EngineReport> {
    const { stage, options } = this;
    let passed = false;
    let striking: Promise<void> = Promise.resolve();
    try {
      await this.begin();
      options.progress(`started: ${stage.database.versions}`);
      striking = this.strike();
      await Promise.all([
        stage.storm(this.plan, new FaultSquad(stage.slots, undefined, stage.tally, this.lease)),
        striking,
      ]);
      if (!options.control) await stage.recover(this.wanted, RECOVER_MS);
      options.progress('recovered');
      await stage.finish();
      const report = await this.account();
      passed = report.passed;
      return report;
    } finally {
      // A server that a fault has just started would outlive the end.
      await striking.catch(() => undefined);
      await stage.close(passed);
    }
  }

  private get isOriginal(): boolean {
    return this.options.control && this.leg.omission === 'original';
  }

  private get lease(): LeaseOrders {
    return this.isOriginal ? LEASE_OF_ORIGINAL : FAILOVER_LEASE;
  }

  /** In the control nothing but the servers goes wrong, if that is enough to make IDs repeat. */
  private get plan(): ReturnType<typeof planFaults> {
    const { control, seconds, seed } = this.options;
    if (control && !this.isOriginal) return [];
    const pace = control ? PACE_OF_CONTROL : PACE;
    return planFaults({
      seed,
      seconds,
      faults: ['kill', 'pause'],
      db: 'mariadb',
      pace,
      leaseMs: this.lease.leaseMs,
    });
  }

  private get wanted(): number {
    return this.options.control ? 1 : WORKERS + NUMBER_PROCESSES;
  }

  private async begin(): Promise<void> {
    const { stage, options, leg } = this;
    await stage.open(CHILD, () => leg.start(options.control));
    const engine = stage.database;
    for (const name of options.faults ?? Object.keys(engine.faults)) {
      if (engine.faults[name] === undefined) {
        throw new Error(`${options.engine} has no fault '${name}': ${Object.keys(engine.faults).join(', ')}`);
      }
      this.faults[name] = 0;
    }
    const layout = layoutOf({ unit: 'second', workers: WORKERS });
    for (let index = 1; index <= PROCESSES; index++) {
      const control = this.isOriginal || (options.control && leg.omission === 'memory');
      const withoutTerms = options.control && leg.omission === 'terms';
      const orders = {
        control,
        withoutTerms,
        rate: RATE,
        layout,
        lease: this.lease,
        database: engine.wayTo(sideOf(index)),
      };
      stage.add({ index, orders, clock: undefined, proxy: undefined });
    }
    const { type, ...way } = engine.wayTo('main');
    const redis = type === 'redis' ? { redis: way } : {};
    for (let index = PROCESSES + 1; !options.control && index <= PROCESSES + NUMBER_PROCESSES; index++) {
      const database = engine.numbers ?? engine.wayTo(sideOf(index));
      stage.add({
        index,
        orders: { numbers: true, database, rate: NUMBER_RATE, ...redis },
        clock: undefined,
        proxy: undefined,
      });
    }
    await stage.start(this.wanted);
  }

  /** The faults of the servers, one after the other; after each of them everybody must issue again. */
  private async strike(): Promise<void> {
    const { stage, options, signal } = this;
    const until = performance.now() + options.seconds * 1_000;
    for (;;) {
      for (const name of Object.keys(this.faults)) {
        await sleep(REST_MS, undefined, { signal });
        if (performance.now() > until && Object.values(this.faults).every((count) => count > 0)) return;
        options.progress(`${name}...`);
        const from = performance.now();
        await stage.database.faults[name]!(this.scene);
        this.faults[name]!++;
        await stage.recover(this.wanted, RECOVER_MS);
        options.progress(`${name}: ${((performance.now() - from) / 1_000).toFixed(1)} s`);
      }
    }
  }

  private get scene(): Scene {
    const { slots } = this.stage;
    return { comer: slots[0]!, taker: slots[1]!, issues: (slot, withinMs) => this.issues(slot, withinMs) };
  }

  private async issues(slot: IssuingSlot, withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (!slot.isIssuing && performance.now() < until) await sleep(LOOK_MS, undefined, { signal: this.signal });
  }

  private async account(): Promise<EngineReport> {
    const { stage, leg, options, faults } = this;
    const engine = stage.database;
    const gapless = options.control ? undefined : await readGapless(engine.numbers ?? engine.wayTo('main'), stage.ids);
    return makeEngineReport(leg, options, {
      versions: engine.versions,
      tally: stage.tally,
      faults,
      gapless,
      leases: compareIds(stage.ids, CODES),
      segments: compareIds(stage.ids, ['segment']),
    });
  }
}

/** Every other process is in another part of the network. */
function sideOf(index: number): Side {
  return index % 2 === 1 ? 'main' : 'side';
}
