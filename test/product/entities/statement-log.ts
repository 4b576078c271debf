import type { Logger } from 'typeorm';

/** The statements of a DataSource, noted through TypeORM's logger. */
export class StatementLog implements Logger {
  private statements: string[] = [];
  private isListening = false;
  private isNarrowed = false;

  /** Notes what `action` does, or that part of it which it passes to {@link only}. */
  async during<T>(action: () => Promise<T>): Promise<T> {
    this.statements = [];
    this.isListening = true;
    this.isNarrowed = false;
    try {
      return await action();
    } finally {
      this.isListening = false;
    }
  }

  /** Notes this part alone; parts that follow are added to it. */
  async only<T>(part: () => Promise<T>): Promise<T> {
    if (!this.isNarrowed) this.statements = [];
    this.isNarrowed = true;
    this.isListening = true;
    try {
      return await part();
    } finally {
      this.isListening = false;
    }
  }

  count(verb: 'SELECT' | 'INSERT'): number {
    return this.statements.filter((sql) => new RegExp(`^[\\s(]*${verb}\\b`, 'i').test(sql)).length;
  }

  logQuery(sql: string): void {
    if (this.isListening) this.statements.push(sql);
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
