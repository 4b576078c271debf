import type { RaindropError } from '../raindrop-error.js';
import type { LeaseContext } from './lease-context.js';
import { ClosedError, LayoutConflictError, NoFreeWorkerError, StoreUnavailableError } from './lease-errors.js';

/** How often in a row a step of the start is tried. */
const TRIES = 3;

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

  /** Once more after what may pass by itself: a blip of the database, a crowd of starters, and all taken if so wanted. */
  private async insist(step: () => Promise<void>): Promise<void> {
    const { options, ports } = this.ctx;
    const giveUpAt = ports.monotonic.now() + options.waitForWorkerMs;
    for (let failures = 0; ; await this.pause(200 + 600 * ports.randomness.fraction())) {
      if (this.isEnded) throw new ClosedError();
      try {
        return await step();
      } catch (error) {
        const allTaken = error instanceof NoFreeWorkerError;
        const passes = allTaken || (error instanceof LayoutConflictError && error.retryable);
        const mayRetry = allTaken ? error.census.contended > 0 : error instanceof StoreUnavailableError;
        if (passes && ports.monotonic.now() < giveUpAt) failures = 0;
        else if (!mayRetry || ++failures >= TRIES) throw error;
      }
    }
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
