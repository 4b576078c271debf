import { OptionReader, readAnyLayout } from '@raindrop/core/internal';
import type { Layout, LayoutOptions, ReadyLayoutOptions } from '@raindrop/core';

/**
 * The layout of these options, also one that has expired: for reading IDs, and for judging how long it lasts.
 * @throws ConfigurationError naming every option that is wrong
 */
export function layoutOfAnyLife(options: LayoutOptions | ReadyLayoutOptions, nowMs: number): Layout {
  const reader = new OptionReader(options);
  const resolved = readAnyLayout(reader, nowMs);
  reader.finish();
  return resolved!.layout;
}
