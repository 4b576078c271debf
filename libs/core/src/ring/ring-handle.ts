import { ConfigurationError, OptionReader } from '../config/option-reader.js';
import { Layout, type LayoutShape } from '../layout/layout.js';
import { showValue } from '../show-value.js';
import { RingMemory } from './ring-memory.js';
import type { ResolvedRingOptions } from './ring-options.js';

/**
 * The handle lets a thread take from a ring: plain data around a `SharedArrayBuffer`, for `workerData` or
 * `postMessage`. It works only in the process that made it.
 */
export interface SharedIdRingHandle {
  /** Producer and takers must be of one version of the library. */
  readonly version: 1;
  readonly buffer: SharedArrayBuffer;
  readonly layout: LayoutShape;
  readonly maxAgeMs: number;
  readonly run: number;
  /** How many IDs the ring holds when it is full: not more than its slots. */
  readonly capacity: number;
  /** A taker asks the producer for more when fewer IDs are left. */
  readonly lowWater: number;
}

/**
 * A ring holds at most this share of the IDs that the layout can issue in `maxAgeMs`. IDs that no thread takes are
 * replaced twice in that time: an idle ring costs a quarter of the layout's sequences at worst, and next to none of a
 * layout with many sequence bits.
 */
const SHARE_OF_LAYOUT = 1 / 8;

/** A run is no larger than this share of the ring, so that one thread does not empty it for the others. */
const SHARE_OF_RING = 1 / 16;

const MUST_BE =
  'must be the handle of a SharedIdRing of this process and version: pass it unchanged to the thread in workerData';

export function makeHandle(
  buffer: SharedArrayBuffer,
  layout: Layout,
  { slots, maxAgeMs, run, paddingFactor }: ResolvedRingOptions,
): SharedIdRingHandle {
  const { fields, unitMs, epochMs, idsPerSecond } = layout;
  const sustainable = Math.floor((idsPerSecond * maxAgeMs * SHARE_OF_LAYOUT) / 1_000);
  const capacity = Math.min(slots, Math.max(sustainable, 1));
  const lowWater = Math.ceil((capacity * paddingFactor) / 100);
  return Object.freeze({
    version: 1,
    buffer,
    layout: { fields, unitMs, epochMs },
    maxAgeMs,
    run: Math.min(run, Math.max(Math.floor(capacity * SHARE_OF_RING), 1)),
    capacity,
    lowWater,
  });
}

/** @throws ConfigurationError when it is not the handle of a ring, naming each wrong part */
export function checkHandle(handle: SharedIdRingHandle): SharedIdRingHandle {
  const given: Partial<SharedIdRingHandle> | undefined | null = handle;
  if (given?.version !== 1 || !RingMemory.fits(given.buffer)) {
    throw new ConfigurationError([{ option: 'handle', given: showValue(given), message: MUST_BE }]);
  }
  const reader = new OptionReader({ handle });
  const { slots } = new RingMemory(given.buffer);
  reader.value('handle');
  reader.nested('handle', given, (inner) => {
    const capacity = inner.integer('capacity', { min: 1, max: slots.length });
    inner.integer('lowWater', { min: 1, max: capacity });
    inner.integer('run', { min: 1, max: Math.min(capacity, 1_024) });
    inner.integer('maxAgeMs', { min: 100, max: 3_600_000 });
    inner.value('version');
    inner.value('buffer');
    checkLayout(inner);
  });
  reader.finish();
  return handle;
}

function checkLayout(reader: OptionReader): void {
  const given = reader.value('layout') as LayoutShape | undefined;
  try {
    new Layout(given!);
  } catch {
    reader.problem('layout', given, 'is not the shape of a layout: pass the handle on unchanged');
  }
}
