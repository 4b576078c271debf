import {
  atomicChanges,
  LeaseLostError,
  LeaseSuspectError,
  OptionReader,
  SharedIdRing,
  SharedIds,
} from '@raindrop/core/internal';
import {
  ConfigurationError,
  type MonotonicClock,
  type RingPorts,
  type SharedIdRingHandle,
  type SharedIdRingOptions,
  type SharedIdsOptions,
} from '@raindrop/core';
import { consoleLogger, type Logger } from '../ports/logger.js';
import type { IdService } from '../id-service.js';
import type { IdServiceEvents } from '../ports/id-engine.js';
import { guarded } from '../system/listeners.js';
import { monotonicClock, systemPorts } from '../system/system-ports.js';

/** The options of {@link sharedIdRing}. */
export interface ThreadRingOptions extends SharedIdRingOptions {
  /** Default: warnings on standard error. */
  logger?: Pick<Logger, 'warn'>;
}

/**
 * Makes a ring of a service's IDs for worker threads; pass its `handle` to them. Filling begins before this returns; it
 * empties itself while the service's lease is lost or in doubt, and is closed with the service.
 * @throws NoLayoutError for numbers from segments; ConfigurationError naming every option that is wrong
 */
export function sharedIdRing(ids: IdService, options: ThreadRingOptions = {}): SharedIdRing {
  const [logger, ringOptions] = splitLogger<SharedIdRingOptions>(options);
  const rings = RingsOfService.of(ids);
  const ring = new SharedIdRing(ids, ringOptions, threadPorts(logger), (closed) => rings.delete(closed));
  if (ring.status().state !== 'closed') rings.add(ring);
  return ring;
}

type Listeners = { readonly [Type in keyof IdServiceEvents]?: (...event: IdServiceEvents[Type]) => void };

const known = new WeakMap<IdService, RingsOfService>();

/**
 * The open rings of a service, and one set of listeners for all of them, which is there while there is a ring: one ring a
 * code must not look like a leak, and one that is closed must not be kept in memory.
 */
class RingsOfService {
  private readonly rings = new Set<SharedIdRing>();

  // At a suspicion another copy of this process may hold what the rings hold. The lease may be confirmed again before they
  // have looked, so they are told.
  private readonly listeners: Listeners = {
    'lease-lost': ({ workerId, reason }) => this.each((ring) => ring.discard(new LeaseLostError(workerId, reason))),
    'lease-suspect': ({ workerId, reason }) =>
      this.each((ring) => ring.discard(new LeaseSuspectError(workerId, reason))),
    'database-regression': ({ error }) => this.each((ring) => ring.discard(error)),
    'lease-regained': () => this.each((ring) => ring.lookSoon()),
    'lease-released': () => this.each((ring) => ring.close()),
  };

  private constructor(private readonly events: IdService['events']) {}

  static of(ids: IdService): RingsOfService {
    const rings = known.get(ids) ?? new RingsOfService(ids.events);
    known.set(ids, rings);
    return rings;
  }

  add(ring: SharedIdRing): void {
    if (this.rings.size === 0) this.onEach('on');
    this.rings.add(ring);
  }

  delete(ring: SharedIdRing): void {
    if (this.rings.delete(ring) && this.rings.size === 0) this.onEach('off');
  }

  private each(act: (ring: SharedIdRing) => void): void {
    for (const ring of this.rings) act(ring);
  }

  private onEach(call: 'on' | 'off'): void {
    for (const [type, listener] of Object.entries(this.listeners)) {
      this.events[call](type as keyof IdServiceEvents, listener);
    }
  }
}

/** The options of {@link openSharedIds}. */
export interface ThreadIdsOptions extends SharedIdsOptions {
  /** Default: warnings on standard error. */
  logger?: Pick<Logger, 'warn'>;
}

/**
 * Opens the IDs of a ring, in any thread of the process that made it: `openSharedIds(workerData.ids)`.
 * @throws ConfigurationError for what is no handle, and naming every option that is wrong
 */
export function openSharedIds(handle: SharedIdRingHandle, options: ThreadIdsOptions = {}): SharedIds {
  const [logger, idsOptions] = splitLogger<SharedIdsOptions>(options);
  return new SharedIds(handle, idsOptions, threadPorts(logger));
}

/** `performance.now()` counts from the start of its thread; the operating system's clock behind it is everybody's. */
const THREAD_STARTED = Number(process.hrtime.bigint()) / 1e6 - monotonicClock.now();

/** Milliseconds that are the same in all threads of the process. */
const processClock: MonotonicClock = { now: () => THREAD_STARTED + monotonicClock.now() };

/** What either side of a ring needs of this thread. */
export function threadPorts(logger: Pick<Logger, 'warn'>): RingPorts {
  const { clock, timers } = systemPorts('turn');
  const warn = (message: string): void =>
    guarded(`The logger, which was told '${message}',`, () => logger.warn(message, 'Raindrop:ring'));
  return { clock, timers, monotonic: processClock, changes: atomicChanges, warn };
}

type Warner = Pick<Logger, 'warn'>;

/**
 * The logger of options, by default standard error, and all others.
 * @throws ConfigurationError when they are no object, or the logger is none
 */
function splitLogger<Others extends object>(options: Others & { logger?: Warner }): readonly [Warner, Others] {
  const given = new OptionReader(options).value('logger') as Partial<Warner> | null | undefined;
  if (given !== undefined && typeof given?.warn !== 'function') {
    const message = "must have a method warn, as Nest's loggers do";
    throw new ConfigurationError([{ option: 'logger', given: `(${typeof given})`, message }]);
  }
  const { logger = consoleLogger, ...others } = options;
  return [logger, others as unknown as Others];
}
