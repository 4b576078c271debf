import { OptionReader } from '@raindrop/core/internal';
import type { WorkerRange } from '@raindrop/core';
import { DEFAULT_SERVICE, resolveSnowflakeOptions, type ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import type { SnowflakeModuleOptions } from '@raindrop/node';
import { readApplicationOptions, type ApplicationOptions } from '../raindrop.options.js';
import { momentOf } from './manual-clock.js';

/**
 * The options of a test's service: those of `RaindropModule.forRoot`, so that a test can use the options of production.
 * Those about lease, database and clock are checked and have no effect.
 */
export interface TestIdServiceOptions extends SnowflakeModuleOptions, ApplicationOptions {
  /** The service's name. Default: none. */
  name?: string;
  /**
   * Where the fake clock starts: a Date, Unix ms, `2026-01-01` or a time with its zone. Default 2026-01-01, UTC, or a
   * year after the epoch of a layout that starts later than 2025-01-01.
   */
  now?: Date | string | number;
  /** The worker id that is held. Default `serviceMinWorkId`, which is 1. */
  workerId?: number;
}

/** {@link TestIdServiceOptions}, checked. */
interface ResolvedTestOptions extends Pick<ResolvedSnowflakeOptions, 'layout' | 'generator' | 'logger'> {
  readonly lint: 'error' | 'warn' | 'off';
  readonly name: string;
  readonly startMs: number;
  readonly workerId: number;
}

/**
 * The layout of tests that name none. It must never change: it makes the IDs in users' snapshots. They are past 2^53,
 * as in production.
 */
const TEST_LAYOUT: SnowflakeModuleOptions = {
  timeUnit: 'second',
  startTimeStamp: '2024-01-01',
  timeStampLength: 33,
  workIdLength: 10,
  endBitsLength: 1,
};

const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const YEAR_MS = 365 * 86_400_000;

/** @throws ConfigurationError naming every option that is wrong */
export function resolveTestOptions(given: TestIdServiceOptions): ResolvedTestOptions {
  const { name = DEFAULT_SERVICE, now, workerId, ...options } = given;
  const startMs = now === undefined ? undefined : momentOf('now', now);
  const resolved = resolveSnowflakeOptions(
    // With the default assigner every option of production is legal.
    { ...(options.layout === undefined && TEST_LAYOUT), ...options, workerIdAssigner: 'database' },
    // A test that names no start begins after the layout's epoch: there is no present by which to judge the layout.
    startMs ?? Number.NaN,
    readApplicationOptions,
  );
  const { layout, workers } = resolved.layout;
  return {
    ...resolved,
    name,
    startMs: startMs ?? Math.max(DEFAULT_START_MS, layout.epochMs + YEAR_MS),
    workerId: readWorkerId(workerId, workers),
  };
}

function readWorkerId(workerId: number | undefined, { min, max }: WorkerRange): number {
  const reader = new OptionReader({ workerId });
  const read = reader.integer('workerId', { min, max, default: min, hint: 'the range of this service' });
  reader.finish();
  return read;
}
