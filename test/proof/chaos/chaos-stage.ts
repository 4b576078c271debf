import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../../support/proxies/tcp-proxy.js';
import { dieWithUs } from '../../support/processes/die-with-us.js';
import { buildRelease } from '../../product/rolling-start/built-release.js';
import { ChaosTally } from './chaos-tally.js';
import { compileChild, ROOT } from './compile-child.js';
import type { PlannedFault } from './fault-plan.js';
import { FaultProxy, type ProxyFault } from './fault-proxy.js';
import type { FaultSquad } from './fault-squad.js';
import { IssuingSlot, type SlotSetting } from './issuing-slot.js';
import type { WriteTraffic } from './write-traffic.js';

const START_MS = 180_000;
const LOOK_MS = 100;
const PROGRESS_MS = 10_000;

export interface StageOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly control: boolean;
  readonly keep: boolean;
  /** A commit of this repository: every second process runs the release of then. */
  readonly beside?: string | undefined;
  /** Is told how it goes, for people. */
  readonly progress: (line: string) => void;
}

/** What every chaos run consists of: a database, processes, the ways between them, and the planned faults. */
export class ChaosStage<Database extends { stop(): Promise<void> }> {
  readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-chaos-'));
  /** Where processes write what they issue. */
  readonly ids = join(this.directory, 'ids');
  readonly tally = new ChaosTally();
  readonly slots: IssuingSlot[] = [];
  private readonly proxies: FaultProxy[] = [];
  /** What the processes run, by turns. */
  private readonly programs: Pick<SlotSetting, 'command' | 'packages'>[] = [];
  private opened: Database | undefined;

  constructor(
    private readonly options: StageOptions,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * @param child the issuing process, as compileChild takes it
   * @param start starts what the processes share, which may keep its files in that directory
   */
  async open(child: string, start: (directory: string) => Promise<Database>): Promise<void> {
    mkdirSync(this.ids);
    const { beside, progress } = this.options;
    this.addProgram(child, ROOT);
    if (beside !== undefined) {
      progress(`building ${beside}`);
      const release = join(this.directory, 'release');
      buildRelease(beside, release);
      this.addProgram(child, release);
    }
    this.opened = await start(this.directory);
  }

  get database(): Database {
    return this.opened!;
  }

  /** A way to a server for one process; undefined when there is no server. */
  async wayTo(
    target: Target | undefined,
    traffic: WriteTraffic,
    fired: (fault: ProxyFault) => void,
  ): Promise<FaultProxy | undefined> {
    if (target === undefined) return undefined;
    const proxy = await FaultProxy.before(target, traffic, fired);
    this.proxies.push(proxy);
    return proxy;
  }

  add(setting: Pick<SlotSetting, 'index' | 'orders' | 'clock' | 'proxy' | 'redisProxy'>): void {
    const { seed } = this.options;
    const program = this.programs[setting.index % this.programs.length]!;
    this.slots.push(new IssuingSlot({ ...setting, ...program, seed, idDirectory: this.ids, tally: this.tally }));
  }

  /** Starts all processes; settles when so many of them issue. @throws Error when they do not */
  async start(wanted: number): Promise<void> {
    for (const slot of this.slots) slot.launch();
    await this.untilIssuing(wanted, START_MS, 'start');
  }

  /** The faults, as planned. */
  async storm(plan: readonly PlannedFault[], squad: FaultSquad): Promise<void> {
    const { options, signal, tally } = this;
    const begun = performance.now();
    const nextProgress = setInterval(() => this.tellProgress(performance.now() - begun), PROGRESS_MS);
    const underWay: Promise<void>[] = [];
    try {
      for (const fault of plan) {
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

  /** Every fault of the network ends. */
  heal(): void {
    for (const proxy of this.proxies) proxy.heal();
  }

  /** Nothing is wrong any more: so many processes must issue again, by themselves. */
  async recover(wanted: number, withinMs: number): Promise<void> {
    await this.untilIssuing(wanted, withinMs, 'recover').catch((error: unknown) => {
      if (this.signal.aborted) throw error;
      this.tally.blame((error as Error).message);
    });
  }

  /** The processes end in an orderly way, and have no successors. */
  async finish(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.stop(true)));
  }

  /** Ends whatever is left. What failed is kept, to be looked into. */
  async close(passed: boolean): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.stop(false)));
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
    await this.opened?.stop();
    const { keep, progress } = this.options;
    if (keep || (!passed && !this.signal.aborted && this.tally.issued > 0)) progress(`kept: ${this.directory}`);
    else rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  private addProgram(child: string, root: string): void {
    const script = compileChild(join(this.directory, `child-${this.programs.length}`), child, root);
    const command = dieWithUs([process.execPath, script], 'SIGKILL');
    this.programs.push({ command, packages: join(root, 'node_modules') });
  }

  private get issuing(): number {
    return this.slots.filter(({ isIssuing }) => isIssuing).length;
  }

  private async untilIssuing(wanted: number, withinMs: number, what: string): Promise<void> {
    const giveUpAt = performance.now() + withinMs;
    while (this.issuing < wanted) {
      const cannotStart = what === 'start' && !this.options.control && this.tally.unexpected.length > 0;
      if (cannotStart || performance.now() > giveUpAt) {
        const seen = `${this.issuing} of ${wanted} processes issue IDs`;
        const refused = Object.entries(this.tally.startRefusals).map(([code, count]) => `${code} ${count}`);
        throw new Error(`the processes did not ${what}: ${[seen, ...refused, ...this.tally.unexpected].join('; ')}`);
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
}
