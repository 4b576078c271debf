import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Command } from '../../support/processes/die-with-us.js';
import type { ChaosTally } from './chaos-tally.js';
import type { FakeClock } from './fake-clock.js';
import type { FaultProxy } from './fault-proxy.js';
import {
  ASK_CLOCK,
  ORDERS_VARIABLE,
  START_REFUSED_EXIT,
  type IssuingMessage,
  type ProcessOrders,
} from './issuing-messages.js';

export interface SlotSetting {
  readonly index: number;
  readonly tally: ChaosTally;
  /** What every process is told besides {@link ProcessOrders}. */
  readonly orders: object;
  readonly seed: number;
  /** The command that runs the issuing process; it dies with us. */
  readonly command: Command;
  /** Where it finds its packages. */
  readonly packages: string;
  readonly idDirectory: string;
  readonly clock: FakeClock | undefined;
  readonly proxy: FaultProxy | undefined;
  /** The way to a Redis. */
  readonly redisProxy?: FaultProxy | undefined;
}

const RESTART_AFTER_REFUSAL_MS = 200;
const LOADING_MS = 2_500;
const RELEASE_MS = 30_000;
const CLOCK_ANSWER_MS = 1_000;
const KEPT_ERRORS = 4_000;

type Report = Extract<IssuingMessage, { type: 'report' }>;

/** One place for a process: when it ends, a successor starts, until the run is over. */
export class IssuingSlot {
  /** Starts so far: part of the names of the ID files. */
  private starts = 0;
  private child: ChildProcess | undefined;
  private isEndWanted = false;
  private isOver = false;
  private lastReport: Report | undefined;
  private issuedLast = 0;
  private launchedAt = 0;
  isPaused = false;

  constructor(private readonly setting: SlotSetting) {}

  get clock(): FakeClock | undefined {
    return this.setting.clock;
  }

  get proxy(): FaultProxy | undefined {
    return this.setting.proxy;
  }

  get redisProxy(): FaultProxy | undefined {
    return this.setting.redisProxy;
  }

  get index(): number {
    return this.setting.index;
  }

  get isAlive(): boolean {
    return this.child?.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Whether it lives and has had the time to load. */
  get isSettled(): boolean {
    return this.isAlive && !this.isPaused && performance.now() - this.launchedAt > LOADING_MS;
  }

  /** Whether it holds a worker id and issues: its last report says more than the one before. */
  get isIssuing(): boolean {
    return this.isAlive && !this.isPaused && this.issuedLast > 0;
  }

  launch(): void {
    if (this.isOver) return;
    const { setting } = this;
    const name = `${setting.index}-${++this.starts}`;
    const orders: ProcessOrders = {
      ...setting.orders,
      prefix: join(setting.idDirectory, name),
      seed: setting.seed * 1_000 + setting.index * 100_000 + this.starts,
    };
    const [program, ...args] = setting.command;
    const child = spawn(program, args, {
      env: {
        ...process.env,
        ...setting.clock?.environment,
        NODE_PATH: setting.packages,
        [ORDERS_VARIABLE]: JSON.stringify(orders),
      },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    setting.tally.starts++;
    this.child = child;
    this.isEndWanted = false;
    this.isPaused = false;
    this.lastReport = undefined;
    this.issuedLast = 0;
    this.launchedAt = performance.now();
    let printed = '';
    child.stderr!.on('data', (data: Buffer) => (printed = (printed + data.toString()).slice(-KEPT_ERRORS)));
    child.on('message', (message: IssuingMessage) => this.hear(message));
    child.once('error', (error) => this.unexpected(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      if (this.child === child) this.issuedLast = 0;
      if (signal === 'SIGKILL') setting.tally.killed.add(name);
      if (this.isEndWanted) return;
      if (code === START_REFUSED_EXIT) setTimeout(() => this.launch(), RESTART_AFTER_REFUSAL_MS);
      else {
        this.unexpected(`ended with ${code ?? signal}, which no fault caused: ${printed}`);
        this.launch();
      }
    });
  }

  /** kill -9, and a successor at once. */
  async kill(): Promise<void> {
    if (!this.isAlive || this.isEndWanted) return;
    await this.end('SIGKILL');
    this.setting.tally.fire('kill');
    this.launch();
  }

  /**
   * An orderly shutdown, and a successor.
   * @param meanwhile is done before that one starts
   * @returns false when there was nothing to shut down: then nothing is done meanwhile, either
   */
  async release(meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<boolean> {
    if (!this.isAlive || this.isPaused || this.isEndWanted) return false;
    if (await this.shutDown()) this.setting.tally.fire('release');
    await meanwhile().finally(() => this.launch());
    return true;
  }

  /** Stops the process in its tracks. Answers whether it went on afterwards, or was killed meanwhile. */
  async pause(ms: number): Promise<boolean> {
    const { child } = this;
    if (child === undefined || !this.isAlive || this.isPaused) return false;
    this.isPaused = true;
    child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (this.child !== child || !this.isAlive) return false;
    child.kill('SIGCONT');
    this.isPaused = false;
    return true;
  }

  /** How the process itself reads its wall clock, against the monotonic one; undefined when it does not answer. */
  async readClock(): Promise<number | undefined> {
    const { child } = this;
    if (child?.connected !== true || this.isPaused) return undefined;
    return new Promise((resolve) => {
      const done = (offsetMs?: number): void => {
        clearTimeout(timer);
        child.off('message', hear);
        resolve(offsetMs);
      };
      const hear = (message: IssuingMessage): void => {
        if (message.type === 'clock') done(message.offsetMs);
      };
      const timer = setTimeout(done, CLOCK_ANSWER_MS);
      child.on('message', hear);
      child.send(ASK_CLOCK, (error) => error !== null && done());
    });
  }

  /** No successor any more; an orderly end, or a hard one when the run has failed anyhow. */
  async stop(orderly: boolean): Promise<void> {
    this.isOver = true;
    if (!this.isAlive) return;
    if (this.isPaused) this.child!.kill('SIGCONT');
    if (orderly && !this.isEndWanted) await this.shutDown();
    else await this.end('SIGKILL');
  }

  private async shutDown(): Promise<boolean> {
    const child = this.child!;
    const timer = setTimeout(() => {
      this.unexpected(`did not end within ${RELEASE_MS} ms of SIGTERM`);
      child.kill('SIGKILL');
    }, RELEASE_MS);
    await this.end('SIGTERM');
    clearTimeout(timer);
    return child.signalCode !== 'SIGKILL';
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child!;
    this.isEndWanted = true;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  private hear(message: IssuingMessage): void {
    const { tally } = this.setting;
    if (message.type === 'unexpected') this.unexpected(message.what);
    if (message.type === 'startRefused') tally.refuseStart(message.errorCode);
    if (message.type !== 'report') return;
    this.issuedLast = message.issued - (this.lastReport?.issued ?? 0);
    tally.add(message, this.lastReport);
    this.lastReport = message;
  }

  private unexpected(what: string): void {
    this.setting.tally.blame(`process ${this.setting.index}-${this.starts} ${what}`);
  }
}
