import type { EventEmitter } from 'node:events';
import { ProblemException } from '../problems/problem.js';

/** Aborted when a response is over: who waits for IDs for a client that has hung up takes them from the others. */
export function goneSignal(response: EventEmitter): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort(connectionClosed()));
  return gone.signal;
}

/** Why nobody waits any more; there is nobody left who could read it. */
export function connectionClosed(): ProblemException {
  const detail = 'The connection was closed.';
  return new ProblemException(408, { errorCode: 'CONNECTION_CLOSED', detail, retryable: true });
}
