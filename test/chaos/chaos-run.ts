import { createLayout } from '@raindrop/core';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dieWithUs } from '../servers/die-with-us.js';
import { ChaosDatabase } from './chaos-database.js';
import { LEASE, layoutOf, type ChaosOptions } from './chaos-options.js';
import { makeReport, type ChaosReport } from './chaos-report.js';
import { ChaosTally } from './chaos-tally.js';
import { compileChild } from './compile-child.js';
import { FakeClock, findFaketime } from './fake-clock.js';
import { planFaults, type PlannedFault } from './fault-plan.js';
import { FaultProxy } from './fault-proxy.js';
import { FaultSquad } from './fault-squad.js';
import { compareIds } from './id-ledger.js';
import { IssuingSlot } from './issuing-slot.js';

const START_MS = 60_000;
const RECOVER_MS = 30_000;
const CONTROL_GOES_ON_MS = 1_000;
const LOOK_MS = 100;
const PROGRESS_MS = 10_000;

/** One run: processes on a database of their own, faults from the plan, and at the end all IDs compared. */
export class ChaosRun {
  private readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-chaos-'));
  private readonly ids = join(this.directory, 'ids');
  private readonly tally = new ChaosTally();
  private readonly slots: IssuingSlot[] = [];
  private readonly proxies: FaultProxy[] = [];
  private readonly plan: readonly PlannedFault[];
  private database: ChaosDatabase | undefined;

  constructor(
    private readonly options: ChaosOptions,
    private readonly signal: AbortSignal,
  ) {
    this.plan = planFaults({ ...options, leaseMs: LEASE.leaseMs });
  }

  /** @throws Error when it cannot be carried out, the signal's reason when it was interrupted */
  async run(): Promise<ChaosReport> {
    let passed = false;
    try {
      await this.begin();
      this.options.progress('started');
      await this.storm();
      this.options.progress('faults over');
      await this.recover();
      this.options.progress('recovered');
      await Promise.all(this.slots.map((slot) => slot.stop(true)));
      this.options.progress(`comparing ${this.tally.issued} IDs`);
      const layout = createLayout(layoutOf(this.options), Date.now());
      const report = makeReport(this.options, this.plan, this.tally, compareIds(this.ids), layout);
      passed = report.passed;
      return report;
    } finally {
      await this.end(passed);
    }
  }

  private async begin(): Promise<void> {
    const { options } = this;
    const library = options.faults.includes('clock') ? findFaketime() : undefined;
    mkdirSync(this.ids);
    const script = compileChild(join(this.directory, 'child'));
    const command = await dieWithUs([process.execPath, script], 'SIGKILL');
    const database = await ChaosDatabase.start(options.db, this.directory);
    this.database = database;
    for (let index = 1; index <= options.processes; index++) {
      const { target } = database;
      const proxy = target && (await FaultProxy.start(target, (fault) => this.tally.fire(fault)));
      if (proxy !== undefined) this.proxies.push(proxy);
      const reach = proxy === undefined ? {} : { host: '127.0.0.1', port: proxy.port };
      const { control, rate, seed } = options;
      const orders = {
        control,
        rate,
        layout: layoutOf(options),
        lease: LEASE,
        database: { ...database.options, ...reach },
      };
      const clock = library === undefined ? undefined : new FakeClock(library, join(this.directory, `clock-${index}`));
      const common = { index, command, proxy, clock, orders, seed, idDirectory: this.ids, tally: this.tally };
      this.slots.push(new IssuingSlot(common));
    }
    for (const slot of this.slots) slot.launch();
    await this.until(() => this.issuing >= this.holdersWanted, START_MS, 'start');
  }

  /** The faults, as planned. */
  private async storm(): Promise<void> {
    const { options, signal, tally, slots } = this;
    const squad = new FaultSquad(slots, this.database!, tally, LEASE);
    const begun = performance.now();
    const nextProgress = setInterval(() => this.tellProgress(performance.now() - begun), PROGRESS_MS);
    const underWay: Promise<void>[] = [];
    try {
      for (const fault of this.plan) {
        await sleep(Math.max(0, begun + fault.atMs - performance.now()), undefined, { signal });
        const fired = squad.fire(fault).catch((error: unknown) => {
          tally.blame(`the fault ${fault.kind} failed: ${String(error)}`);
        });
        underWay.push(fired);
      }
      await sleep(Math.max(0, begun + options.seconds * 1_000 - performance.now()), undefined, { signal });
      await Promise.all(underWay);
    } finally {
      clearInterval(nextProgress);
    }
  }

  /** Nothing is wrong any more: as many processes as there are workers must issue again, by themselves. */
  private async recover(): Promise<void> {
    for (const proxy of this.proxies) proxy.heal();
    // The control has no more to prove than what it does after its last pause.
    if (this.options.control) return sleep(CONTROL_GOES_ON_MS, undefined, { signal: this.signal });
    await this.until(() => this.issuing >= this.holdersWanted, RECOVER_MS, 'recover').catch((error: unknown) => {
      if (this.signal.aborted) throw error;
      this.tally.blame((error as Error).message);
    });
  }

  private get issuing(): number {
    return this.slots.filter(({ isIssuing }) => isIssuing).length;
  }

  /** With a long unit a crash near its end blocks a worker until the next tick, as documented. */
  private get holdersWanted(): number {
    return this.options.unit === 'hour' ? 1 : Math.min(this.options.processes, this.options.workers);
  }

  private async until(done: () => boolean, withinMs: number, what: string): Promise<void> {
    const giveUpAt = performance.now() + withinMs;
    while (!done()) {
      const cannotStart = what === 'start' && !this.options.control && this.tally.unexpected.length > 0;
      if (cannotStart || performance.now() > giveUpAt) {
        const seen = `${this.issuing} of ${this.holdersWanted} processes issue IDs`;
        throw new Error(`the processes did not ${what}: ${[seen, ...this.tally.unexpected].join('; ')}`);
      }
      await sleep(LOOK_MS, undefined, { signal: this.signal });
    }
  }

  private tellProgress(elapsedMs: number): void {
    const { tally } = this;
    const fired = Object.values(tally.fired).reduce((sum, count) => sum + count, 0);
    this.options.progress(
      `${Math.round(elapsedMs / 1_000)} s: ${tally.issued} IDs, ${fired} faults, ${this.issuing} processes issue`,
    );
  }

  /** What failed is kept, to be looked into. */
  private async end(passed: boolean): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.stop(false)));
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
    await this.database?.stop();
    const { keep, progress } = this.options;
    if (keep || (!passed && !this.signal.aborted && this.tally.issued > 0)) progress(`kept: ${this.directory}`);
    else rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
