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

  /** The ids of all rows there are. `row/1/fence` is no row, but a key of a table whose prefix lies inside this one. */
  idsIn(entries: Entries): number[] {
    return this.endsIn(entries, 'row/', /^(0|[1-9]\d{0,14})$/).map(Number);
  }

  /**
   * All layouts that are noted. One that is not understood may be of a later release, so it stands in the way too. Only
   * what is a key of a table inside (`layout/fence`, `layout/row/1`) is none: no release notes a layout that has a slash
   * or is called so.
   */
  layoutsIn(entries: Entries): string[] {
    return this.endsIn(entries, 'layout/', /^(?!(fence|state)$)[^/]+$/);
  }

  private endsIn(entries: Entries, part: string, pattern: RegExp): string[] {
    const begin = `${this.prefix}${part}`;
    const ends = [...entries.keys()].filter((key) => key.startsWith(begin)).map((key) => key.slice(begin.length));
    return ends.filter((end) => pattern.test(end));
  }
}
