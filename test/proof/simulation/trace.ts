import type { LeaseEvent } from '@raindrop/core';

/** What happened in a schedule, in the order of virtual time, for people. */
export class Trace {
  readonly lines: string[] = [];

  add(atMs: number, text: string): void {
    this.lines.push(`${(atMs / 1_000).toFixed(3).padStart(10)} s  ${text}`);
  }
}

/** An event of a lease as a trace has it. */
export function inWords(event: LeaseEvent): string {
  const { type, ...rest } = event;
  const details = Object.entries(rest).map(([name, value]: [string, unknown]) =>
    value instanceof Error ? value.message : `${name} ${String(value)}`,
  );
  return [type, ...details].join(', ');
}
