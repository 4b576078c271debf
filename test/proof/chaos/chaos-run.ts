import { createLayout } from '@raindrop/core';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChaosDatabase } from './chaos-database.js';
import { layoutOf, leaseOf, type ChaosOptions } from './chaos-options.js';
import { makeReport, type ChaosReport } from './chaos-report.js';
import { ChaosStage } from './chaos-stage.js';
import { FakeClock, findFaketime } from './fake-clock.js';
import { planFaults, type PlannedFault } from './fault-plan.js';
import { DatabaseIssuer } from './database-issuer.js';
import { FaultSquad } from './fault-squad.js';
import { compareIds } from './id-ledger.js';
import { CODES } from './issuing-messages.js';
import { WORKER_TABLE } from './worker-update.js';
import { REDIS_WORKER_WRITES, updatesOf } from './write-traffic.js';

const RECOVER_MS = 120_000;
const CONTROL_GOES_ON_MS = 1_000;

const CHILD = 'test/proof/chaos/issuing-process';

/** One run: processes on a database of their own, faults from the plan, and at the end all IDs compared. */
export class ChaosRun {
  private readonly stage: ChaosStage<ChaosDatabase>;
  private readonly plan: readonly PlannedFault[];
  private issuer: DatabaseIssuer | undefined;

  constructor(
    private readonly options: ChaosOptions,
    private readonly signal: AbortSignal,
  ) {
    this.stage = new ChaosStage(options, signal);
    this.plan = planFaults({ ...options, leaseMs: leaseOf(options).leaseMs });
  }

  /** @throws Error when it cannot be carried out, the signal's reason when it was interrupted */
  async run(): Promise<ChaosReport> {
    const { stage, options, plan } = this;
    let passed = false;
    try {
      await this.begin();
      options.progress('started');
      const { slots, database, tally } = stage;
      await stage.storm(plan, new FaultSquad(slots, database, tally, leaseOf(options), database.redis));
      options.progress('faults over');
      await this.recover();
      options.progress('recovered');
      await this.issuer?.stop();
      await stage.finish();
      options.progress(`comparing ${stage.tally.issued} IDs`);
      const layout = createLayout(layoutOf(options), Date.now());
      const report = makeReport(options, plan, stage.tally, compareIds(stage.ids, CODES), layout);
      passed = report.passed;
      return report;
    } finally {
      await this.issuer?.stop();
      await stage.close(passed);
    }
  }

  private async begin(): Promise<void> {
    const { options, stage } = this;
    const library = options.faults.includes('clock') ? findFaketime() : undefined;
    await stage.open(CHILD, (directory) => ChaosDatabase.start(options.db, directory));
    const { database, tally } = stage;
    const { control, rate, db } = options;
    const traffic = db === 'redis' ? REDIS_WORKER_WRITES : updatesOf(WORKER_TABLE);
    for (let index = 1; index <= options.processes; index++) {
      const proxy = await stage.wayTo(database.target, traffic, (fault) => tally.fire(fault));
      const reach = proxy === undefined ? {} : { host: '127.0.0.1', port: proxy.port };
      const layout = layoutOf(options);
      const orders = { control, rate, layout, lease: leaseOf(options), database: { ...database.options, ...reach } };
      const clock = library === undefined ? undefined : new FakeClock(library, join(stage.directory, `clock-${index}`));
      stage.add({ index, orders, clock, proxy });
    }
    await stage.start(this.holdersWanted);
    if (db === 'postgres' && !control) {
      this.issuer = new DatabaseIssuer(database.options, layoutOf(options), stage.ids, tally);
    }
  }

  private async recover(): Promise<void> {
    this.stage.heal();
    // The control has no more to prove than what it does after its last pause.
    if (this.options.control) return sleep(CONTROL_GOES_ON_MS, undefined, { signal: this.signal });
    await this.stage.recover(this.holdersWanted, RECOVER_MS);
  }

  /** With a long unit a crash near its end blocks a worker until the next tick, as documented. */
  private get holdersWanted(): number {
    return this.options.unit === 'hour' ? 1 : Math.min(this.options.processes, this.options.workers);
  }
}
