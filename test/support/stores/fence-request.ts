import type { FenceRequest } from '../../../libs/core/src/lease/worker-store.js';

/** The fence of an operator who knows nothing more, with the default skew. */
export function fenceRequest(aheadMs: number, more: Partial<FenceRequest> = {}): FenceRequest {
  return { aheadMs, maxClockSkewMs: 30_000, ...more };
}
