import type { RaindropError } from '../raindrop-error.js';
import type { Layout } from '../layout/layout.js';
import type { WorkerRange } from '../layout/layout-usage.js';
import type { LeaseContext, LeasePorts } from './lease-context.js';
import { ClosedError, LayoutConflictError, NoFreeWorkerError, StoreUnavailableError } from './lease-errors.js';
import { chooseLayout, type LayoutChoice, onlyLayout, UnclearLayoutError } from './layout-choice.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import type { StoreSession } from './store-session.js';
import type { SampleRequest, WorkerStore, WorkerTable } from './worker-store.js';

/** How often the start looks whether IDs can be issued, ms. */
const POLL_MS = 50;

/** How long a start that is ended may still take, ms: it may have a worker id to give back. */
const CANCEL_MS = 1_500;

/** What the start does with its keeper. */
interface StartingKeeper {
  acquire(): Promise<void>;
  /** Undefined when IDs can be issued. */
  refusal(): RaindropError | undefined;
  warn(message: string): void;
}

/** From nothing to the first ID: tables, a worker id, probation. It ends with an error, or when it is told to. */
export class LeaseStart {
  private isCancelled = false;
  private isRunning = false;
  private warnedUntilMs = Number.NEGATIVE_INFINITY;
  private wakeUp: () => void = () => {};

  constructor(
    private readonly ctx: LeaseContext,
    private readonly keeper: StartingKeeper,
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
  cancel(): void {
    this.isCancelled = true;
    this.wakeUp();
    if (this.isRunning) this.ctx.session.endWithin(CANCEL_MS);
  }

  private async steps(): Promise<void> {
    const { session, options, resolved, ports } = this.ctx;
    // Creating and filling takes several statements: it gets the time of ten.
    const timeoutMs = 10 * options.opTimeoutMs;
    await this.retry(() =>
      session.run('preparing the worker table', (store) => store.prepare(resolved.workers), timeoutMs),
    );
    await this.retry(() => this.keeper.acquire());
    const giveUpAt = ports.monotonic.now() + options.commitLossWindowMs + timeoutMs;
    for (let refusal = this.keeper.refusal(); refusal !== undefined; refusal = this.keeper.refusal()) {
      if (ports.monotonic.now() >= giveUpAt) throw refusal;
      await this.pause(POLL_MS);
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

  private retry(step: () => Promise<void>): Promise<void> {
    const { options, ports } = this.ctx;
    const pause = (ms: number): Promise<void> => this.pause(ms);
    const { waitForWorkerMs } = options;
    const onBarred = (error: NoFreeWorkerError): void => this.warnOfWait(error);
    return retryStartStep(step, { ports, pause, isCancelled: () => this.isCancelled, waitForWorkerMs, onBarred });
  }

  private warnOfWait({ barredForMs }: NoFreeWorkerError): void {
    const until = this.ctx.ports.monotonic.now() + barredForMs;
    // Told again when it takes longer.
    if (until < this.warnedUntilMs + 10_000) return;
    this.warnedUntilMs = until;
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
      if (this.isCancelled) this.wakeUp();
    });
    if (this.isCancelled) throw new ClosedError();
  }
}

/** Where a layout is looked for. */
interface LayoutSearch {
  readonly session: StoreSession;
  readonly options: ResolvedLeaseOptions;
  readonly ports: Pick<LeasePorts, 'monotonic' | 'randomness' | 'timers'>;
  /** The layout of a store that has served none. */
  readonly first: Layout;
}

/** Prepares the table without a row: how many it needs follows from the layout. */
const NO_WORKERS: WorkerRange = { min: 1, max: 0 };

const NO_ROWS: SampleRequest = { workers: NO_WORKERS, from: 1, atMost: 1, graceMs: 0 };

/** How often somebody looks, or starts, anew when another process was faster. */
const LAYOUT_TRIES = 5;

/**
 * Finds the layout of a service whose options name none, see {@link chooseLayout}. It creates tables that are missing.
 * @throws UnclearLayoutError; ForeignRowsError; StoreUnavailableError; what the store throws on a table it cannot use
 */
export async function findLayout({ session, options, ports, first }: LayoutSearch): Promise<LayoutChoice> {
  const policy = { ports, waitForWorkerMs: 0, isCancelled: () => false, pause: (ms: number) => pause(ports, ms) };
  // Creating takes several statements, as when a lease starts.
  const prepareMs = 10 * options.opTimeoutMs;
  await retryStartStep(
    () => session.run('preparing the worker table', (store) => store.prepare(NO_WORKERS), prepareMs),
    policy,
  );
  const read = <T>(call: (store: WorkerStore) => Promise<T>): Promise<T> =>
    retryStartStep(() => session.run('reading the layouts', call), policy);
  // Nearly always it is one, and no row has to be read.
  const only = onlyLayout(await read((store) => store.readSample(NO_ROWS)));
  if (only !== undefined) return only;
  for (let tries = 1; ; tries++) {
    const table = await read((store) => store.readTable());
    try {
      return chooseLayout(table, first, options);
    } catch (error) {
      if (!(error instanceof UnclearLayoutError) || !isBeingDecided(table) || tries >= LAYOUT_TRIES) throw error;
    }
    await pause(ports, pauseMs(ports));
  }
}

/**
 * Finds the layout and starts with it. Processes that start together on a store which has served none may have chosen
 * differently, by their releases: those that are told so find the layout anew.
 * @param open closes what it has opened when it throws
 * @throws what `find` and `open` throw
 */
export async function withFoundLayout<T>(
  find: () => Promise<LayoutChoice>,
  open: (choice: LayoutChoice) => Promise<T>,
  ports: LayoutSearch['ports'],
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const choice = await find();
    try {
      return await open(choice);
    } catch (error) {
      if (!choice.isFirst || !(error instanceof LayoutConflictError) || tries >= LAYOUT_TRIES) throw error;
    }
    await pause(ports, pauseMs(ports));
  }
}

/** Whether somebody has taken a row whose layout is not noted: he finds out at this moment whether he may go on. */
function isBeingDecided({ rows, layouts }: WorkerTable): boolean {
  return rows.some(({ token, layout }) => token !== '' && layout !== '' && !layouts.includes(layout));
}

function pause({ timers }: Pick<LeasePorts, 'timers'>, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.setTimer(resolve, ms, 'foreground'));
}

/** How often in a row a step is tried. */
const MAX_FAILURES = 3;

/** How long somebody waits who starts, and how. */
interface RetryPolicy {
  readonly ports: Pick<LeasePorts, 'monotonic' | 'randomness'>;
  readonly waitForWorkerMs: number;
  readonly isCancelled: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Hears of every try that a store which may have lost something has barred. */
  readonly onBarred?: (error: NoFreeWorkerError) => void;
}

/**
 * Takes a step of a start, once more after what may pass by itself: a blip of the database, a crowd of starters, a store
 * that bars its rows after a loss, and all taken if so wanted.
 * @throws what the step throws at last; ClosedError when the start is ended
 */
async function retryStartStep<T>(step: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { ports, waitForWorkerMs, isCancelled, pause, onBarred } = policy;
  const giveUpAt = ports.monotonic.now() + waitForWorkerMs;
  for (let failures = 0, barredForMs = 0; ; await pause(pauseMs(ports, barredForMs))) {
    if (isCancelled()) throw new ClosedError();
    try {
      return await step();
    } catch (error) {
      const allTaken = error instanceof NoFreeWorkerError;
      const passes = allTaken || (error instanceof LayoutConflictError && error.retryable);
      const mayRetry = allTaken ? error.census.contended > 0 : error instanceof StoreUnavailableError;
      const isBarred = allTaken && error.barredForMs > 0;
      barredForMs = isBarred ? error.barredForMs : 0;
      if (isBarred) onBarred?.(error);
      if (isBarred || (passes && ports.monotonic.now() < giveUpAt)) failures = 0;
      else if (!mayRetry || ++failures >= MAX_FAILURES) throw error;
    }
  }
}

/** While a store bars its rows, it is asked no more often than this, ms. */
const BARRED_PAUSE_MS = 5_000;

/** How long to wait before the next try, ms: at random, so that many starters do not meet again. */
function pauseMs({ randomness }: Pick<LeasePorts, 'randomness'>, barredForMs = 0): number {
  return Math.min(barredForMs, BARRED_PAUSE_MS) + 200 + 600 * randomness.fraction();
}
