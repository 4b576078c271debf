import { openSync, writeSync } from 'node:fs';

/** `run` is what a process draws from, `row` the database behind it: the same call unless there is a Redis in between. */
export type Level = 'run' | 'row';

interface Intent {
  readonly id: number;
  /** The machine's time, ms. */
  readonly at: number;
  readonly level: Level;
  readonly key: string;
}

/** One line of a process's journal. Numbers are exact: no run comes near 2^53. */
export type JournalLine =
  | (Intent & { readonly call: 'reserve'; readonly count: number | null })
  | (Intent & { readonly call: 'giveBack'; readonly first: number; readonly last: number })
  | {
      readonly id: number;
      readonly at: number;
      readonly outcome: 'reserved';
      readonly first: number;
      readonly last: number;
    }
  | { readonly id: number; readonly at: number; readonly outcome: 'returned' | 'refused' | 'failed' }
  /** A process that found no row of the app has cleared what Redis has of it, and registers it. */
  | { readonly clearedAt: number }
  /** The control has lost a number without a word. */
  | { readonly dropped: number; readonly key: string };

/** What a process asks for and gets, on file before it goes on: the kernel has it, whatever becomes of the process. */
export class Journal {
  private readonly file: number;
  private ids = 0;

  constructor(prefix: string) {
    this.file = openSync(`${prefix}.journal`, 'a');
  }

  nextId(): number {
    return ++this.ids;
  }

  add(line: JournalLine): void {
    writeSync(this.file, `${JSON.stringify(line)}\n`);
  }
}
