import type { OptionReader } from '@raindrop/core/internal';
import type { ResolvedGeneratorOptions, ResolvedLayout, WorkerRange } from '@raindrop/core';
import { DISPOSABLE_MIN_WORKER_BITS } from '../worker-node-table/disposable-limits.js';
import { forgetsUse, originsOf, readAssignerUse, type AssignerUse } from './assigner-use.js';
import { isFirstOf, readFirstOf, type FirstOf, type AssignerPart } from './first-of.js';
import { refuseMisplaced } from './misplaced-options.js';

/** The options that say where worker ids come from. */
export interface AssignerOptions {
  /**
   * Where worker ids come from, and what is guaranteed of them: docs/worker-ids.md.
   * @range `database`, `redisWorkers(...)`, `disposable`, `static`, `statefulSet`, `ip`, `machine`, a class or an
   *   object, `firstOf([...])`
   * @defaultValue `database`
   */
  workerIdAssigner?: AssignerUse | FirstOf;
  /**
   * The worker id of the `static` assigner, unless `--raindrop.workerId` or `RAINDROP_WORKER_ID` gives one.
   * @range inside the service's range
   * @defaultValue none
   */
  workerId?: number;
  /**
   * Where this host keeps how far IDs were issued, for assigners that do not know it; it has to outlive the process.
   * @range a directory, made in one that exists
   * @defaultValue none
   */
  stateFile?: string;
  /**
   * Without a `stateFile`: a start issues nothing before the clock has passed the tick of now + this. Required for
   * hours and days.
   * @range 0-600,000, or false
   * @defaultValue what can be borrowed ahead, 1,000 more where the worker id moves between hosts
   */
  restartWaitMs?: number | false;
}

/** Those options, checked. */
export interface ResolvedAssignerOptions {
  /** In the order in which they are asked. */
  readonly parts: readonly AssignerPart[];
  readonly staticWorkerId: number | undefined;
  readonly stateFile: string | undefined;
  /** Undefined: decided by what the chosen assigner guarantees. */
  readonly restartWaitMs: number | false | undefined;
  /** How far ahead of the clock the generator may issue, ms. */
  readonly borrowMs: number;
}

/** From here on a start cannot wait for the next tick. */
export const LONG_UNIT_MS = 3_600_000;

/**
 * Reads them with a reader that others share, and refuses what nothing reads.
 * @param isSourced whether another process makes the IDs
 */
export function readAssignerOptions(
  reader: OptionReader,
  layout: ResolvedLayout | undefined,
  generator: ResolvedGeneratorOptions,
  isSourced: boolean,
): ResolvedAssignerOptions {
  const workers = layout?.workers ?? { min: 0, max: 1_023 };
  const parts = readParts(reader, workers);
  const uses = parts.map(({ use }) => use);
  const hasFile = reader.value('stateFile') !== undefined;
  refuseMisplaced(reader, isSourced ? ['idSource'] : uses.flatMap((use) => originsOf(use, hasFile)));
  if (uses.includes('disposable') && layout !== undefined) refuseNarrowWorkers(reader, layout);
  const unitMs = layout?.layout.unitMs ?? 1_000;
  const borrowMs =
    generator.onExhausted === 'borrow' ? Math.max(unitMs, Math.floor(generator.maxAheadMs / unitMs) * unitMs) : 0;
  const stateFile = readStateFile(reader, uses);
  return {
    parts,
    staticWorkerId: reader.value('workerId') === undefined ? undefined : reader.integer('workerId', workers),
    stateFile,
    restartWaitMs: readRestartWait(reader, { unitMs, borrowMs }, stateFile !== undefined || !uses.some(forgetsUse)),
    borrowMs,
  };
}

function readParts(reader: OptionReader, workers: WorkerRange): readonly AssignerPart[] {
  const given = reader.value('workerIdAssigner');
  if (given === undefined) return [{ use: 'database', workers }];
  if (isFirstOf(given)) return readFirstOf(reader, given, workers);
  const others = ', or firstOf([{ use, workers: { min, max } }, ...])';
  return [{ use: readAssignerUse(reader, 'workerIdAssigner', given, others), workers }];
}

function refuseNarrowWorkers(reader: OptionReader, { layout }: ResolvedLayout): void {
  const bits = Math.log2(layout.maxWorkerId + 1);
  if (bits >= DISPOSABLE_MIN_WORKER_BITS) return;
  const message =
    `uses a worker id up with each start and needs ${DISPOSABLE_MIN_WORKER_BITS} worker bits or more, the layout has ${bits}: ` +
    `take a layout such as presets.uidGenerator()`;
  reader.problem('workerIdAssigner', 'disposable', message);
}

function readStateFile(reader: OptionReader, uses: readonly AssignerUse[]): string | undefined {
  const given = reader.value('stateFile');
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || given.trim() === '' || given.includes('\0')) {
    reader.problem('stateFile', given, `must be a path, such as '/var/lib/orders/raindrop-state'`);
  } else if (uses.includes('machine')) {
    reader.problem('stateFile', given, `is no help to 'machine': its worker id is another one at each start`);
  } else return given;
  return undefined;
}

function readRestartWait(
  reader: OptionReader,
  { unitMs, borrowMs }: { readonly unitMs: number; readonly borrowMs: number },
  isNeedless: boolean,
): number | false | undefined {
  const given = reader.value('restartWaitMs');
  if (given === false) return false;
  if (reader.refused('restartWaitMs')) return undefined;
  if (given !== undefined) {
    const hint = `no less than what is borrowed ahead of the clock, ${borrowMs} ms, or false`;
    return reader.integer('restartWaitMs', { min: borrowMs, max: 600_000, hint });
  }
  if (unitMs >= LONG_UNIT_MS && !isNeedless) {
    const message =
      `is required with a unit of hours or days: by default a start would wait for the next tick. Give stateFile instead, ` +
      `or false if the last run's IDs cannot matter`;
    reader.problem('restartWaitMs', given, message);
  }
  return undefined;
}

/** Whether nothing is lost when a process ends without shutting down. */
export function givesNothingBack({ parts, stateFile }: ResolvedAssignerOptions): boolean {
  return stateFile === undefined && parts.every(({ use }) => typeof use === 'string' && use !== 'database');
}
