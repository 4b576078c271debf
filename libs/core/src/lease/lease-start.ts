import type { RaindropError } from '../raindrop-error.js';
import { insist } from './insist.js';
import type { LeaseContext } from './lease-context.js';
import { ClosedError, type NoFreeWorkerError } from './lease-errors.js';

/** How often the start looks whether IDs can be issued, ms. */
const LOOK_AGAIN_MS = 50;

/** How long a start that is ended may still take, ms: it may have a worker id to give back. */
const END_MS = 1_500;

/** What the start does with its keeper. */
export interface Starting {
  acquire(): Promise<void>;
  /** Undefined when IDs can be issued. */
  refusal(): RaindropError | undefined;
  warn(message: string): void;
}

/** From nothing to the first ID: tables, a worker id, probation. It ends with an error, or when it is told to. */
export class LeaseStart {
  private isEnded = false;
  private isRunning = false;
  private toldUntilMs = Number.NEGATIVE_INFINITY;
  private wakeUp: () => void = () => {};

  constructor(
    private readonly ctx: LeaseContext,
    private readonly keeper: Starting,
  ) {}

  async run(): Promise<void> {
    this.isRunning = true;
    try {
      await this.steps();
    } finally {
      this.isRunning = false;
    }
  }

  /** No further attempt is made, and the one under way has little time left. */
  end(): void {
    this.isEnded = true;
    this.wakeUp();
    if (this.isRunning) this.ctx.session.endWithin(END_MS);
  }

  private async steps(): Promise<void> {
    const { session, options, resolved, ports } = this.ctx;
    // Creating and filling takes several statements: it gets the time of ten.
    const timeoutMs = 10 * options.opTimeoutMs;
    await this.insist(() =>
      session.run('preparing the worker table', (store) => store.prepare(resolved.workers), timeoutMs),
    );
    await this.insist(() => this.keeper.acquire());
    const giveUpAt = ports.monotonic.now() + options.commitLossWindowMs + timeoutMs;
    for (let refusal = this.keeper.refusal(); refusal !== undefined; refusal = this.keeper.refusal()) {
      if (ports.monotonic.now() >= giveUpAt) throw refusal;
      await this.pause(LOOK_AGAIN_MS);
    }
    // The first ID need not wait for advice.
    void this.warnOfLostCommits();
  }

  /** With a window for lost commits set, nothing needs to be said; and what cannot be found out must not stop the start. */
  private async warnOfLostCommits(): Promise<void> {
    const { session, options } = this.ctx;
    if (options.commitLossWindowMs > 0) return;
    const checking = session.run('checking durability', (store) => store.durabilityWarnings());
    for (const problem of await checking.catch(() => [])) this.keeper.warn(problem);
  }

  private insist(step: () => Promise<void>): Promise<void> {
    const { options, ports } = this.ctx;
    const pause = (ms: number): Promise<void> => this.pause(ms);
    const { waitForWorkerMs } = options;
    const barred = (error: NoFreeWorkerError): void => this.tellWaiting(error);
    return insist(step, { ports, pause, isEnded: () => this.isEnded, waitForWorkerMs, barred });
  }

  private tellWaiting({ barredForMs }: NoFreeWorkerError): void {
    const until = this.ctx.ports.monotonic.now() + barredForMs;
    // Told again when it takes longer.
    if (until < this.toldUntilMs + 10_000) return;
    this.toldUntilMs = until;
    this.keeper.warn(
      `the database has failed over or lost rows, and may have lost commits: this start waits ${Math.ceil(barredForMs / 1_000)} s, until ` +
        `all that can have been granted before is past; processes that hold a worker id go on`,
    );
  }

  /** Waits, at most until the start is ended. */
  private async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.ctx.ports.timers.setTimer(resolve, ms, 'foreground');
      this.wakeUp = () => {
        timer.cancel();
        resolve();
      };
      if (this.isEnded) this.wakeUp();
    });
    if (this.isEnded) throw new ClosedError();
  }
}
