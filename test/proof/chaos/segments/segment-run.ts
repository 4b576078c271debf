import type { FiredFault } from '../chaos-options.js';
import { ChaosDatabase } from '../chaos-database.js';
import { ChaosRedis } from '../chaos-redis.js';
import { ChaosStage } from '../chaos-stage.js';
import { planFaults, type PlannedFault } from '../fault-plan.js';
import type { ProxyFault } from '../fault-proxy.js';
import { FaultSquad } from '../fault-squad.js';
import { compareIds } from '../id-ledger.js';
import { SCRIPTS, updatesOf } from '../write-traffic.js';
import { explainLosses } from './explain-losses.js';
import { readProcesses, type RecordedCall } from './process-record.js';
import { keepHistory, readHistory } from './row-history.js';
import { APP_TABLE, KEYS, OP_TIMEOUT_MS, SEGMENT_TABLE, type Key } from './segment-messages.js';
import type { SegmentRunOptions } from './segment-options.js';
import { makeSegmentReport, type SegmentReport } from './segment-report.js';

const RECOVER_MS = 120_000;

/** No caller waits longer than this for an answer. */
const LIMITS = { leaseMs: 2 * OP_TIMEOUT_MS, opTimeoutMs: OP_TIMEOUT_MS };

const CHILD = 'test/proof/chaos/segments/segment-process';

/** In the database, and answered. */
function isReservation({ level, outcome }: RecordedCall): boolean {
  return level === 'row' && outcome === 'reserved';
}

/** What a proxy before Redis does, among all that is counted. */
const REDIS_FAULTS: Partial<Record<ProxyFault, FiredFault>> = {
  refused: 'redisRefused',
  halfOpen: 'redisHalfOpen',
  delayed: 'redisDelayed',
  unanswered: 'redisUnanswered',
};

/** Of the control: orderly ends as well as others, and no loss of Redis but that of going back in time. */
function forControl(plan: readonly PlannedFault[]): PlannedFault[] {
  return plan
    .filter(({ kind }) => ['kill', 'release', 'redisSnapshot'].includes(kind))
    .map((fault) => (fault.kind === 'kill' && fault.aim < 0.6 ? { ...fault, kind: 'release' } : fault));
}

/** One run over segments: afterwards no number may have been issued twice, and every lost one must have its reason. */
export class SegmentRun {
  private readonly stage: ChaosStage<ChaosDatabase>;
  private readonly plan: readonly PlannedFault[];
  private redis: ChaosRedis | undefined;

  constructor(
    private readonly options: SegmentRunOptions,
    signal: AbortSignal,
  ) {
    this.stage = new ChaosStage(options, signal);
    const plan = planFaults({ ...options, leaseMs: LIMITS.leaseMs });
    this.plan = options.control ? forControl(plan) : plan;
  }

  /** @throws Error when it cannot be carried out, the signal's reason when it was interrupted */
  async run(): Promise<SegmentReport> {
    const { stage, options, plan } = this;
    let passed = false;
    try {
      await this.begin();
      options.progress('started');
      await stage.storm(plan, new FaultSquad(stage.slots, stage.database, stage.tally, LIMITS, this.redis));
      stage.heal();
      await stage.recover(options.processes, RECOVER_MS);
      options.progress('recovered');
      await stage.finish();
      options.progress(`accounting for ${stage.tally.issued} numbers`);
      const report = await this.account();
      passed = report.passed;
      return report;
    } finally {
      await stage.close(passed);
      await this.redis?.stop();
    }
  }

  private async begin(): Promise<void> {
    const { options, stage } = this;
    const [redis] = await Promise.all([
      ChaosRedis.start().then((each) => (this.redis = each)),
      stage.open(CHILD, (directory) => ChaosDatabase.start(options.db, directory)),
    ]);
    const { database, tally } = stage;
    await keepHistory(options.db, database.options);
    for (let index = 1; index <= options.processes; index++) {
      const proxy = await stage.wayTo(database.target, updatesOf(SEGMENT_TABLE, APP_TABLE), (fault) =>
        tally.fire(fault),
      );
      const redisProxy = await stage.wayTo(redis.target, SCRIPTS, (fault) => {
        const name = REDIS_FAULTS[fault];
        if (name !== undefined) tally.fire(name);
      });
      const reach = proxy === undefined ? {} : { host: '127.0.0.1', port: proxy.port };
      const { control, rate } = options;
      const way = { host: '127.0.0.1', port: redisProxy!.port };
      const orders = { control, rate, redis: way, database: { ...database.options, ...reach } };
      stage.add({ index, orders, clock: undefined, proxy, redisProxy });
    }
    await stage.start(options.processes);
  }

  private async account(): Promise<SegmentReport> {
    const { stage, plan, options } = this;
    const { tally } = stage;
    const history = await readHistory(options.db, stage.database.options);
    const processes = readProcesses(stage.ids, tally.killed);
    const verdicts = KEYS.map((key) => explainLosses(key, history.get(key)!, processes, tally.events));
    const ledgers = Object.fromEntries(KEYS.map((key) => [key, compareIds(stage.ids, [key])])) as Record<
      Key,
      ReturnType<typeof compareIds>
    >;
    return makeSegmentReport(options, {
      plan,
      tally,
      ledgers,
      verdicts,
      reservations: processes.flatMap(({ calls }) => calls).filter(isReservation).length,
      dropped: processes.reduce((sum, { dropped }) => sum + (dropped['credit'] ?? 0), 0),
    });
  }
}
