import type { Field } from './field.js';

/** The parts that make a layout. */
export interface LayoutShape {
  /** From the most significant bits down: the `time` field first, one `sequence` field, 64 bits at most. */
  readonly fields: readonly Field[];
  readonly unitMs: number;
  /** The epoch, Unix ms. */
  readonly epochMs: number;
}
