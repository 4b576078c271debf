import { RaindropError } from '@raindrop/core';

/** What a call failed with, from the outside in. */
export function codesOf(error: unknown): string[] {
  return error instanceof RaindropError ? [error.errorCode, ...codesOf(error.cause)] : [];
}
