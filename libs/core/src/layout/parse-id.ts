import { toId } from '../codec/to-id.js';
import { toUnsignedId } from '../codec/to-unsigned-id.js';
import type { Layout, LayoutParts } from './layout.js';

/** The parts of an ID. */
export interface ParsedId extends LayoutParts {
  readonly id: bigint;
  /** The start of the ID's tick. */
  readonly time: Date;
}

/**
 * Takes an ID apart. A layout of 64 bits has unsigned IDs, up to 2^64 - 1.
 * @throws InvalidIdError when `id` is not a bigint, a canonical decimal string or a safe number in range
 * @throws TimestampOverflowError when its time lies beyond what a Date can hold
 */
export function parseId(layout: Layout, id: bigint | string | number): ParsedId {
  const value = layout.bits > 63 ? toUnsignedId(id) : toId(id);
  const parts = layout.unpack(value);
  return { id: value, time: new Date(layout.timeline.startOf(parts.tick)), ...parts };
}
