import type { Layout } from '@raindrop/core';

/** Names the request; random, and echoed by the answer, so that a stored answer is told from a fresh one. */
export const REQUEST_HEADER = 'raindrop-request';

/** The fingerprint of the layout that the IDs of an answer have. */
export const LAYOUT_HEADER = 'raindrop-layout';

/**
 * Returns the headers that an answer to `POST /v1/ids` needs for clients that use `remoteIds()`: they say which request
 * it is for, and what layout the IDs have. For services of your own; `apps/demo` sends it.
 *
 * @param request what the request's header `raindrop-request` says; anything but a short token is not echoed
 */
export function remoteIdsHeaders(layout: Layout, request: unknown): Record<string, string> {
  const isToken = typeof request === 'string' && /^[\w-]{1,64}$/.test(request);
  return {
    ...(isToken && { [REQUEST_HEADER]: request }),
    [LAYOUT_HEADER]: layout.fingerprint,
    'cache-control': 'no-store',
  };
}
