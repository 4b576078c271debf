import type { Entries } from './key-values.js';

/** The keys of a table of workers. */
export class WorkerKeys {
  constructor(private readonly prefix: string) {}

  get fence(): string {
    return `${this.prefix}fence`;
  }

  get state(): string {
    return `${this.prefix}state`;
  }

  row(id: number): string {
    return `${this.prefix}row/${id}`;
  }

  /** Is there as long as the holder of that row lives, where the store knows such keys. */
  live(id: number): string {
    return `${this.prefix}live/${id}`;
  }

  layout(fingerprint: string): string {
    return `${this.prefix}layout/${fingerprint}`;
  }

  /** The ids of all rows there are. */
  idsIn(entries: Entries): number[] {
    return this.endsIn(entries, 'row/').map(Number);
  }

  layoutsIn(entries: Entries): string[] {
    return this.endsIn(entries, 'layout/');
  }

  private endsIn(entries: Entries, part: string): string[] {
    const begin = `${this.prefix}${part}`;
    return [...entries.keys()].filter((key) => key.startsWith(begin)).map((key) => key.slice(begin.length));
  }
}
