import { atomicChanges, OptionReader, SharedIdRing, SharedIds } from '@raindrop/core/internal';
import {
  ConfigurationError,
  type MonotonicClock,
  type RingPorts,
  type SharedIdRingHandle,
  type SharedIdRingOptions,
  type SharedIdsOptions,
  LeaseLostError,
  LeaseSuspectError,
} from '@raindrop/core';
import { consoleLogger, type Logger } from '../ports/logger.js';
import type { IdService } from '../service/id-service.js';
import type { IdServiceEvents } from '../ports/id-engine.js';
import { guarded } from '../system/listeners.js';
import { monotonicClock, systemPorts } from '../system/system-ports.js';

/** The options of {@link sharedIdRing}. */
export interface ThreadRingOptions extends SharedIdRingOptions {
  /** Default: warnings on standard error. */
  logger?: Pick<Logger, 'warn'>;
}

/** The options of {@link openSharedIds}. */
export interface ThreadIdsOptions extends SharedIdsOptions {
  /** Default: warnings on standard error. */
  logger?: Pick<Logger, 'warn'>;
}

/** The start of this thread by the operating system's clock, ms: `performance.now()` counts from there. */
const THREAD_STARTED = Number(process.hrtime.bigint()) / 1e6 - monotonicClock.now();

/** A monotonic clock that shows the same time in all threads of the process, ms. */
const processClock: MonotonicClock = { now: () => THREAD_STARTED + monotonicClock.now() };

/**
 * Makes a ring of a service's IDs for worker threads; pass its `handle` to them. It is being filled when this returns.
 * The ring is emptied when the service's lease is lost or in doubt, and closed with the service.
 * @throws NoLayoutError for numbers from segments; ConfigurationError naming every option that is wrong
 */
export function sharedIdRing(ids: IdService, options: ThreadRingOptions = {}): SharedIdRing {
  const [logger, ringOptions] = splitLogger<SharedIdRingOptions>(options);
  const rings = RingsOfService.of(ids);
  const ring = new SharedIdRing(ids, ringOptions, threadPorts(logger), (closed) => rings.delete(closed));
  if (ring.status().state !== 'closed') rings.add(ring);
  return ring;
}

/**
 * Opens the IDs of a ring, in any thread of the process that made it: `openSharedIds(workerData.ids)`.
 * @throws ConfigurationError when `handle` is not that of a ring, and naming every option that is wrong
 */
export function openSharedIds(handle: SharedIdRingHandle, options: ThreadIdsOptions = {}): SharedIds {
  const [logger, idsOptions] = splitLogger<SharedIdsOptions>(options);
  return new SharedIds(handle, idsOptions, threadPorts(logger));
}

type Listeners = { readonly [Type in keyof IdServiceEvents]?: (...event: IdServiceEvents[Type]) => void };

const known = new WeakMap<IdService, RingsOfService>();

/**
 * The open rings of a service, with one set of listeners for all of them while there is a ring. With listeners of its
 * own each, a ring for each of 11 codes would make Node warn of a leak, and a closed ring would stay in memory.
 */
class RingsOfService {
  private readonly rings = new Set<SharedIdRing>();

  // On 'lease-suspect' a copy of this process may hold the same IDs in its rings. The lease may be confirmed before the
  // rings look at it again, so the event empties them.
  private readonly listeners: Listeners = {
    'lease-lost': ({ workerId, reason }) => this.forEach((ring) => ring.discard(new LeaseLostError(workerId, reason))),
    'lease-suspect': ({ workerId, reason }) =>
      this.forEach((ring) => ring.discard(new LeaseSuspectError(workerId, reason))),
    'database-regression': ({ error }) => this.forEach((ring) => ring.discard(error)),
    'lease-regained': () => this.forEach((ring) => ring.lookSoon()),
    'lease-released': () => this.forEach((ring) => ring.close()),
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

  private forEach(act: (ring: SharedIdRing) => void): void {
    for (const ring of this.rings) act(ring);
  }

  private onEach(call: 'on' | 'off'): void {
    for (const [type, listener] of Object.entries(this.listeners)) {
      this.events[call](type as keyof IdServiceEvents, listener);
    }
  }
}

/** The ports of this thread for a ring, on either side. */
export function threadPorts(logger: Pick<Logger, 'warn'>): RingPorts {
  const { clock, timers } = systemPorts('turn');
  const warn = (message: string): void =>
    guarded(`The logger, called with '${message}',`, () => logger.warn(message, 'Raindrop:ring'));
  return { clock, timers, monotonic: processClock, changes: atomicChanges, warn };
}

type Warner = Pick<Logger, 'warn'>;

/**
 * Takes the logger out of the options, by default standard error; the second result is all other options.
 * @throws ConfigurationError when the options are no object, or the logger has no method `warn`
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
