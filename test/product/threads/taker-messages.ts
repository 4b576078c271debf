import type { SharedIdRingHandle } from '@raindrop/core';

/** What a taking thread is to do. */
export interface TakerTask {
  readonly handle: SharedIdRingHandle;
  /** Where its IDs go; it ends when it is full, or the producer does not deliver. */
  readonly ids: BigInt64Array;
  /** `late`: the negative control, which reads the slots after it has moved the head. */
  readonly order: 'right' | 'late';
}
