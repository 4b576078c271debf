import { toId } from '../codec/to-id.js';
import type { Layout, LayoutParts } from './layout.js';

/** What an ID says. */
export interface ParsedId extends LayoutParts {
  readonly id: bigint;
  /** The start of the ID's tick. */
  readonly time: Date;
}

/**
 * Takes an ID apart.
 * @throws InvalidIdError when `id` is not a bigint, a canonical decimal string or a safe number in range
 * @throws TimestampOverflowError when its time lies beyond what a Date can hold
 */
export function parseId(layout: Layout, id: bigint | string | number): ParsedId {
  const value = toId(id);
  const parts = layout.unpack(value);
  return { id: value, time: new Date(layout.timeline.startOf(parts.tick)), ...parts };
}
