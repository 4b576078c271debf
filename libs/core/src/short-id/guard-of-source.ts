import { processWide } from '../copies/process-wide.js';
import { RepeatGuard } from './repeat-guard.js';
import { SHORT_ID_CYCLE_MS } from './short-id.js';

const guards = processWide('guards of short IDs', () => new WeakMap<object, RepeatGuard>());

/** The one guard of a source: its numbers must differ whichever generator shortens them. The longest expiry counts. */
export function guardOfSource(source: object, keepMs: number): RepeatGuard {
  const guard = guards.get(source) ?? new RepeatGuard(SHORT_ID_CYCLE_MS, keepMs);
  guards.set(source, guard);
  guard.keepAtLeast(keepMs);
  return guard;
}
