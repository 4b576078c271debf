import type { Layout } from '../layout/layout.js';
import type { WorkerRange } from '../layout/layout-usage.js';
import { insist, pauseMs } from './insist.js';
import { chooseLayout, onlyLayout, type LayoutChoice } from './layout-choice.js';
import type { LeasePorts } from './lease-context.js';
import { LayoutConflictError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import type { StoreSession } from './store-session.js';
import { UnclearLayoutError } from './unclear-layout-error.js';
import type { SampleRequest, WorkerStore, WorkerTable } from './worker-store.js';

/** Where a layout is looked for. */
export interface LayoutSearch {
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
  const insistence = { ports, waitForWorkerMs: 0, isEnded: () => false, pause: (ms: number) => pause(ports, ms) };
  // Creating takes several statements, as when a lease starts.
  const prepareMs = 10 * options.opTimeoutMs;
  await insist(
    () => session.run('preparing the worker table', (store) => store.prepare(NO_WORKERS), prepareMs),
    insistence,
  );
  const read = <T>(call: (store: WorkerStore) => Promise<T>): Promise<T> =>
    insist(() => session.run('reading the layouts', call), insistence);
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
