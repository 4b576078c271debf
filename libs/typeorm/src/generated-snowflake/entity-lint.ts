import { RaindropError } from '@raindrop/core';

/** A problem says what is wrong, or will be, with one `@GeneratedSnowflake()` column. */
export interface EntityProblem {
  /** A `warning` is logged and never stops a start. */
  readonly severity: 'error' | 'warning';
  /** The name of its class. A minifier shortens it: messages name the table. */
  readonly entity: string;
  readonly table: string;
  readonly property: string;
  /** TypeORM's name of the database type. */
  readonly driver: string;
  readonly problem: string;
  readonly cure: string;
}

/** The options say what is done about problems, and where they are logged. */
export interface EntityLint {
  readonly mode: 'error' | 'warn' | 'off';
  /** Called with each warning, and in mode `warn` with each error. */
  readonly warn: (message: string) => void;
}

/** For services and DataSources outside Nest. */
export const STRICT_LINT: EntityLint = {
  mode: 'error',
  warn: (message) => process.emitWarning(message, 'RaindropWarning'),
};

/** The IDs of some columns would be lost, rounded or refused later. Nothing was attached, or by an insert nothing was written. */
export class EntityLintError extends RaindropError {
  static override readonly name = 'EntityLintError';
  readonly errorCode = 'ENTITY_LINT';

  constructor(readonly problems: readonly EntityProblem[]) {
    super(
      `@GeneratedSnowflake() cannot work like this (lint: 'warn' starts all the same):\n` +
        problems.map((each) => `  - ${describeProblem(each)}`).join('\n'),
      { retryable: false },
    );
  }
}

/** @throws EntityLintError when the mode is `error` and one of the problems is */
export function report(problems: readonly EntityProblem[], { mode, warn }: EntityLint): void {
  if (mode === 'off') return;
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (mode === 'error' && errors.length > 0) throw new EntityLintError(errors);
  for (const each of problems) warn(describeProblem(each));
}

function describeProblem({ table, property, driver, problem, cure }: EntityProblem): string {
  return `${table}.${property} (${driver}): ${problem}. ${cure}.`;
}

/** Says that the application's connection does not return an ID as it is. */
export function roundedProblem(returned: unknown, id: bigint | string): string {
  return `the DataSource's connection returns ${shown(returned)} for the ID ${id}`;
}

function shown(value: unknown): string {
  if (value instanceof Date || typeof value === 'function') return `a ${typeof value}`;
  return typeof value === 'object' && value !== null
    ? 'an object'
    : `${String(value).slice(0, 40)} (a ${typeof value})`;
}
