import { Layout } from './layout.js';

/** 2026-01-01, UTC. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

const SECOND_MS = 1_000;

/** The bits of a layout in seconds, with one end bit. */
interface Bits {
  readonly time: number;
  readonly worker: number;
  readonly sequence: number;
}

/**
 * The layout of a service whose options name none, where the store of its worker ids has served none either: 262,144 IDs
 * a second and process, 1,023 workers, until 2298. A later release may take another one here: where a store has served a
 * layout, the service goes on with that.
 */
export const DEFAULT_LAYOUT = layoutOf({ time: 33, worker: 10, sequence: 18 });

/**
 * The layout of a service whose options name none, and whose worker ids come from where nothing remembers layouts. It
 * must never change, also where {@link DEFAULT_LAYOUT} does: processes of two releases would repeat each other's IDs.
 */
export const LASTING_LAYOUT = layoutOf({ time: 33, worker: 10, sequence: 18 });

/**
 * The layout that options name with `layout: 'number'`: 8,192 IDs a second and process, 255 workers. Its IDs have 53 bits,
 * so that all are exact JavaScript numbers; after 34 years it has none left. Digit for digit they are those of 40 timestamp
 * bits, 8 worker bits and 1 end bit up to then. The bits must never change: they are what the name stands for.
 * @param epochMs Unix ms
 */
export function numberLayout(epochMs = EPOCH_MS, endValue = 0): Layout {
  return layoutOf({ time: 30, worker: 8, sequence: 13 }, epochMs, endValue);
}

function layoutOf({ time, worker, sequence }: Bits, epochMs = EPOCH_MS, endValue = 0): Layout {
  return new Layout({
    fields: [
      { name: 'timestamp', role: 'time', bits: time },
      { name: 'worker', role: 'worker', bits: worker },
      { name: 'clockBack', role: 'clockBack', bits: 1 },
      { name: 'sequence', role: 'sequence', bits: sequence },
      { name: 'end', role: 'fixed', bits: 1, value: endValue },
    ],
    unitMs: SECOND_MS,
    epochMs,
  });
}
