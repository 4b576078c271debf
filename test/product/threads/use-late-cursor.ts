import type { SharedIdRingHandle } from '@raindrop/core';
import type { SharedIds } from '@raindrop/core/internal';
import { Freshness, RingMemory } from '../../../libs/core/src/ring/ring-memory.js';
import { LateCursor } from '../../support/engine/ring-bench.js';
import { threadPorts } from '../../../libs/node/src/threads/thread-ring.js';

/** Has a taker read its slots in the wrong order. */
export function useLateCursor(ids: SharedIds, handle: SharedIdRingHandle): void {
  const freshness = new Freshness(ids.layout, handle.maxAgeMs);
  const cursor = new LateCursor(new RingMemory(handle.buffer), handle, freshness, threadPorts({ warn: () => {} }));
  Object.defineProperty(ids, 'cursor', { value: cursor });
}
