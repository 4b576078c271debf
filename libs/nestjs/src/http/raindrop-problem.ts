import { STATUS_CODES } from 'node:http';
import {
  InvalidBatchError,
  InvalidCodeError,
  InvalidIdError,
  SequenceExhaustedError,
  ShortIdRepeatError,
  type RaindropError,
} from '@raindrop/core';
import { UnknownAppError } from '@raindrop/node';

/** Problem details (RFC 9457) of an error of Raindrop's that a client can do something about. */
export interface RaindropProblem {
  /** Says that the problem means no more than its status and its code do. */
  readonly type: 'about:blank';
  /** What the status means, such as `Bad Request`. */
  readonly title: string;
  /** 400 and 404 for a value that the client sent, 503 for what passes by itself. */
  readonly status: 400 | 404 | 503;
  /** The error's own message for 400 and 404; for 503 a sentence that quotes no database driver. */
  readonly detail: string;
  /** Stays the same across releases: safe to branch on. */
  readonly errorCode: string;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;
}

/**
 * Returns what a client is told of an error of Raindrop's; undefined when the client can do nothing about it, which is
 * a 500. INVALID_ID, INVALID_BATCH and INVALID_CODE are 400, UNKNOWN_APP is 404, every retryable error is 503.
 */
export function raindropProblem(error: RaindropError): RaindropProblem | undefined {
  const status = statusOf(error);
  if (status === undefined) return undefined;
  const { message, errorCode, retryable } = error;
  const detail = status === 503 ? 'No ID can be issued right now. Try again in a moment.' : message;
  return { type: 'about:blank', title: STATUS_CODES[status]!, status, detail, errorCode, retryable };
}

function statusOf(error: RaindropError): RaindropProblem['status'] | undefined {
  if (error instanceof InvalidIdError || error instanceof InvalidBatchError || error instanceof InvalidCodeError) {
    return 400;
  }
  if (error instanceof UnknownAppError) return 404;
  return error.retryable ? 503 : undefined;
}

/** Whole seconds for `Retry-After`: what the error itself knows, at least 1. */
export function retryAfterSeconds(error: RaindropError, nowMs: number): number {
  return Math.max(Math.ceil((waitMsOf(error, nowMs) ?? 0) / 1000), 1);
}

function waitMsOf(error: RaindropError, nowMs: number): number | undefined {
  // A service that is asked for IDs says it; only who takes IDs from one loads its errors.
  if ('retryAfterMs' in error && typeof error.retryAfterMs === 'number') return error.retryAfterMs;
  if (error instanceof ShortIdRepeatError) return error.blockedMs;
  return error instanceof SequenceExhaustedError ? error.availableAt.getTime() - nowMs : undefined;
}
