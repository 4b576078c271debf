import { planLayout, type Layout } from '@raindrop/core';

const DAY_MS = 86_400_000;

/** Looks once a day whether the layout's last year has begun: a process may run for longer than the warning at its start holds. */
export class ExpiryWatch {
  private lookedMs: number;

  /** @param nowMs the start, which has had its look */
  constructor(
    private readonly layout: Layout,
    nowMs: number,
  ) {
    this.lookedMs = nowMs;
  }

  /** What to warn of; undefined when there is nothing, or when the last look was less than a day ago. */
  look(nowMs: number): string | undefined {
    if (Math.abs(nowMs - this.lookedMs) < DAY_MS) return undefined;
    this.lookedMs = nowMs;
    const { warnings } = planLayout({ layout: this.layout }, nowMs);
    return warnings.find(({ code }) => code === 'EXPIRES_SOON')?.message;
  }
}
