import type { Dialect, SqlValue, Statement } from './dialect.js';

/** Binds a value to a statement, and returns its placeholder. */
export type Bind = (value: SqlValue) => string;

/** The values of one statement. Its placeholders must come in the order in which they are bound. */
export function bindings(dialect: Dialect): { readonly values: readonly SqlValue[]; readonly value: Bind } {
  const values: SqlValue[] = [];
  return { values, value: (given) => dialect.placeholder(values.push(given)) };
}

/** A statement whose placeholders come in the order in which they are bound. */
export function statement(dialect: Dialect, write: (value: Bind) => string): Statement {
  const { values, value } = bindings(dialect);
  return { sql: write(value), values };
}

export function execute<Result>(
  run: (sql: string, values: readonly SqlValue[]) => Promise<Result>,
  { sql, values }: Statement,
): Promise<Result> {
  return run(sql, values);
}
