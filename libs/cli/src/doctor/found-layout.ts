import { RaindropError, type WorkerTable } from '@raindrop/core';
import { chooseLayout, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import type { ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { fail, type Finding } from './finding.js';

/** The options with the layout that a start would take, or why it would take none. */
export function withFoundLayout(
  options: ResolvedSnowflakeOptions,
  table: WorkerTable,
): { readonly options: ResolvedSnowflakeOptions; readonly unclear?: Finding } {
  if (options.withLayout === undefined) return { options };
  try {
    return { options: options.withLayout(chooseLayout(table, DEFAULT_LAYOUT, options.lease).layout) };
  } catch (error) {
    if (!(error instanceof RaindropError)) throw error;
    return { options, unclear: fail('layout', error.message, `see docs/errors.md, ${error.errorCode}`) };
  }
}
