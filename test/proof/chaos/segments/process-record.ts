import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIds } from '../../../support/processes/id-file.js';
import { runsOf, type Interval, type Intervals } from './intervals.js';
import type { JournalLine, Level } from './journal.js';

/** A call of a source, as its process wrote it down. */
export interface RecordedCall {
  readonly level: Level;
  readonly key: string;
  readonly call: 'reserve' | 'giveBack';
  readonly at: number;
  /** For `reserve`; null for the source's own step. */
  readonly count: number | null;
  /** For `giveBack`. */
  readonly unused: Interval | undefined;
  /** What came of it; undefined when nothing was heard before the process ended. */
  outcome: 'reserved' | 'returned' | 'refused' | 'failed' | undefined;
  segment: Interval | undefined;
  endedAt: number | undefined;
}

/** Everything that one process has left behind. */
export interface ProcessRecord {
  /** As `2-5`: the fifth process in place 2. */
  readonly name: string;
  readonly slot: number;
  readonly wasKilled: boolean;
  /** When it wrote last, ms. */
  readonly lastSeen: number;
  readonly calls: readonly RecordedCall[];
  /** When it had cleared what Redis has of the app, ms: no later than that. */
  readonly clearedAt: readonly number[];
  /** Numbers that the control lost on purpose, by key. */
  readonly dropped: Readonly<Record<string, number>>;
  /** What it issued, by key. */
  issued(key: string): { readonly runs: Intervals; readonly highest: number; readonly increases: boolean };
}

export function readProcesses(directory: string, killed: ReadonlySet<string>): ProcessRecord[] {
  const names = readdirSync(directory).filter((file) => file.endsWith('.journal'));
  return names.map((file) => readProcess(directory, file.slice(0, -'.journal'.length), killed));
}

function readProcess(directory: string, name: string, killed: ReadonlySet<string>): ProcessRecord {
  const calls = new Map<number, RecordedCall>();
  const dropped: Record<string, number> = {};
  const clearedAt: number[] = [];
  let lastSeen = 0;
  for (const text of readFileSync(join(directory, `${name}.journal`), 'utf8')
    .split('\n')
    .slice(0, -1)) {
    const line = JSON.parse(text) as JournalLine;
    if ('dropped' in line) {
      dropped[line.key] = (dropped[line.key] ?? 0) + 1;
      continue;
    }
    if ('clearedAt' in line) {
      clearedAt.push(line.clearedAt);
      continue;
    }
    lastSeen = line.at;
    if ('call' in line) calls.set(line.id, begun(line));
    else {
      const call = calls.get(line.id)!;
      call.outcome = line.outcome;
      call.endedAt = line.at;
      if (line.outcome === 'reserved') call.segment = { first: line.first, last: line.last };
    }
  }
  const issued = (key: string): ReturnType<ProcessRecord['issued']> => {
    const file = join(directory, `${name}.${key}`);
    const numbers = existsSync(file) ? readIds(file) : new BigInt64Array();
    const increases = numbers.every((each, index) => index === 0 || each > numbers[index - 1]!);
    return { runs: runsOf(numbers), highest: Number(numbers.at(-1) ?? 0n), increases };
  };
  const slot = Number(name.split('-')[0]);
  return { name, slot, wasKilled: killed.has(name), lastSeen, calls: [...calls.values()], clearedAt, dropped, issued };
}

function begun(line: Extract<JournalLine, { call: unknown }>): RecordedCall {
  const { level, key, call, at } = line;
  return {
    level,
    key,
    call,
    at,
    count: line.call === 'reserve' ? line.count : null,
    unused: line.call === 'giveBack' ? { first: line.first, last: line.last } : undefined,
    outcome: undefined,
    segment: undefined,
    endedAt: undefined,
  };
}
