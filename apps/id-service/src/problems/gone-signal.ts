import type { EventEmitter } from 'node:events';
import { ProblemException } from './problem.js';

/** Aborted when a response is over: a request whose client has hung up shall not take IDs from the others. */
export function goneSignal(response: EventEmitter): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort(connectionClosed()));
  return gone.signal;
}

/** The reason of that abort. No client reads it: its connection is closed. */
export function connectionClosed(): ProblemException {
  const detail = 'The connection was closed.';
  return new ProblemException(408, { errorCode: 'CONNECTION_CLOSED', detail, retryable: true });
}
