import type { FiredFault } from './chaos-options.js';
import type { PlannedFault } from './fault-plan.js';

/** How often each kind of fault is in a plan. */
export function countKinds(plan: readonly PlannedFault[]): Partial<Record<FiredFault, number>> {
  const counts: Partial<Record<FiredFault, number>> = {};
  for (const { kind } of plan) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** `kill 3, pause 2`. */
export function showCounts(counts: Readonly<Record<string, number>>): string {
  const shown = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return shown.join(', ') || 'none';
}

/** What ends the summary of any run. */
export function endOf(report: {
  readonly passed: boolean;
  readonly failures: readonly string[];
  readonly unexpected: readonly string[];
}): string[] {
  return [
    ...report.unexpected.map((each) => `  unexpected: ${each}`),
    ...report.failures.map((each) => `  FAILED:   ${each}`),
    report.passed ? '  passed' : '  failed',
  ];
}
