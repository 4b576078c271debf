import { ConfigurationError, type ConfigurationProblem } from '@raindrop/core';
import { demoLayout } from './demo-layout.js';
import { readDatabaseUrl, type DemoDatabase } from './database/database-url.js';

/** Everything that can be configured, from environment variables only. */
export interface DemoConfig {
  readonly host: string;
  readonly port: number;
  readonly database: DemoDatabase;
  /** The worker ids of this process and its siblings. */
  readonly workers: { readonly min: number; readonly max: number };
}

const WHOLE_NUMBER = /^\d{1,6}$/;

/**
 * Reads and checks the environment; an empty variable counts as not set.
 * @throws ConfigurationError naming every variable that is wrong
 */
export function readDemoConfig(environment: NodeJS.ProcessEnv): DemoConfig {
  const problems: ConfigurationProblem[] = [];
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const integer = (name: string, fallback: number, min: number, max: number, meaning: string): number => {
    const given = text(name);
    if (given === undefined) return fallback;
    const value = WHOLE_NUMBER.test(given) ? Number(given) : NaN;
    if (value >= min && value <= max) return value;
    const message = `must be an integer from ${min} to ${max}: ${meaning}`;
    problems.push({ option: name, given: JSON.stringify(given.slice(0, 48)), message });
    return fallback;
  };

  const maxWorkerId = 2 ** demoLayout.workIdLength - 1;
  const port = integer('PORT', 3_000, 0, 65_535, 'where to listen; 0 takes any free port');
  const min = integer('RAINDROP_MIN_WORKER_ID', 1, 0, maxWorkerId, 'the first worker id of this service');
  const max = integer(
    'RAINDROP_MAX_WORKER_ID',
    Math.max(min, 64),
    0,
    maxWorkerId,
    'the last worker id of this service',
  );
  if (min > max) {
    const message = `must not be greater than RAINDROP_MAX_WORKER_ID, ${max}`;
    problems.push({ option: 'RAINDROP_MIN_WORKER_ID', given: String(min), message });
  }
  const database = readDatabaseUrl(text('DATABASE_URL'));
  if (typeof database === 'string') {
    // The URL may hold a password: it is not shown.
    problems.push({ option: 'DATABASE_URL', given: 'a text', message: database });
  }
  if (problems.length > 0 || typeof database === 'string') throw new ConfigurationError(problems);
  return { host: text('HOST') ?? '127.0.0.1', port, database, workers: { min, max } };
}
