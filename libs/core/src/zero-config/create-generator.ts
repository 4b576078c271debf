import { ConfigurationError, OptionReader } from '../config/option-reader.js';
import { integer, type Numbers, option, type OptionsOf, readOptions } from '../config/option-rules.js';
import {
  type GeneratorOptions,
  readGeneratorOptions,
  type ResolvedGeneratorOptions,
} from '../generator/generator-options.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { type PerLane, type Position, StaticTenure } from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import { readLayout, reportShortLife } from '../layout/layout-options.js';
import type { GeneratorPorts, Timers } from '../ports.js';
import { collisionOdds } from '../worker-id/machine-process-id.js';
import { hostPorts, hostScope, type HostScope, hostWorkerId } from './host.js';

/**
 * 1,024 IDs a millisecond for each of 1,024 worker ids, for 69.7 years. The other end bit stays free for a later
 * layout.
 */
const BITS = { timeUnit: 'millisecond', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 } as const;
const WORKER_BITS = BITS.workIdLength;

/** The options of {@link createGenerator}, besides those of every generator. */
export const createGeneratorOptions = {
  /**
   * The epoch.
   * @range an ISO string (UTC unless it names a zone), a Date or Unix ms; not in the future @defaultValue 2024-01-01
   */
  startTimeStamp: option<string | Date | number, Layout | undefined, Numbers<'nowMs'>>(readLayoutFrom),
  /** The worker id. @range 0-1,023 @defaultValue made of machine, process and thread */
  workerId: integer({ min: 0, max: 2 ** WORKER_BITS - 1 }),
};

/** The options of {@link createGenerator}. */
export interface CreateGeneratorOptions extends GeneratorOptions, OptionsOf<typeof createGeneratorOptions> {}

/**
 * Makes a generator without any configuration, for scripts and tests. **Unsafe**: its worker id is not leased. It is
 * made of 5 bits of the process and 5 bits of the machine, or random where these are not known. Of 10 processes two
 * share a worker id with a probability of 4 %, of 38 processes with 50 % (see {@link UnsafeGenerator.collisionOdds}),
 * and then IDs repeat. Use a leased worker for IDs that are kept.
 *
 * Calls with the same options return the same generator: a process has one for each worker id. Each thread has its own.
 * The first 32 threads that a process starts, the main one included, have different worker ids, whether or not they
 * still run.
 *
 * Nothing remembers former runs. The first ID lies after the tick of this call, on both lanes. A former run under the
 * same worker id can have issued it only if that run ended less than `maxAheadMs` ago, or the clock was set back since.
 * @param scope the global scope of the host; for tests
 * @throws ConfigurationError naming every option that is wrong, or when a generator of this process uses the worker id
 * with other options
 */
export function createGenerator(options: CreateGeneratorOptions = {}, scope = hostScope()): UnsafeGenerator {
  const ports = hostPorts(scope);
  const reader = new OptionReader(options);
  const own = readOptions(reader, createGeneratorOptions, { nowMs: ports.clock.refresh() });
  const generatorOptions = readGeneratorOptions(reader, 1);
  reader.finish();

  const generators = ProcessGenerators.of(scope);
  const workerId = own.workerId ?? generators.workerId(() => hostWorkerId(scope, WORKER_BITS));
  const setup = { layout: own.startTimeStamp!, workerId, options: generatorOptions };
  const configuration = JSON.stringify([setup.layout.fingerprint, generatorOptions]);
  return generators.generator(workerId, configuration, () => new UnsafeGenerator(setup, ports));
}

/** Reads the epoch of the layout that {@link BITS} make with it. */
function readLayoutFrom(reader: OptionReader, name: string, { nowMs }: Numbers<'nowMs'>): Layout | undefined {
  const startTimeStamp = reader.value(name) ?? '2024-01-01';
  const inner = new OptionReader({ ...BITS, startTimeStamp });
  const resolved = readLayout(inner, nowMs);
  if (resolved !== undefined) reportShortLife(inner, resolved, nowMs);
  // The bits are right, so every problem comes from the epoch.
  for (const { message } of inner.problems) reader.problem(name, startTimeStamp, message);
  return resolved?.layout;
}

/**
 * All copies of this module in one scope share the generators: two copies with generators of their own would repeat
 * IDs.
 */
const GENERATORS = Symbol.for('@raindrop/core: generators of this process');

/** The zero-configuration generators that a scope has made: one for each worker id. */
class ProcessGenerators {
  private readonly made = new Map<number, { readonly configuration: string; readonly generator: UnsafeGenerator }>();
  private drawn: number | undefined;

  static of(scope: HostScope & { [GENERATORS]?: ProcessGenerators }): ProcessGenerators {
    return (scope[GENERATORS] ??= new ProcessGenerators());
  }

  /** The worker id of calls that name none. It is drawn once, since a part of it may be random. */
  workerId(draw: () => number): number {
    return (this.drawn ??= draw());
  }

  /**
   * Returns the generator of a worker id, and makes it if there is none.
   * @param configuration the options as text
   * @throws ConfigurationError when the worker id has a generator with other options
   */
  generator(workerId: number, configuration: string, make: () => UnsafeGenerator): UnsafeGenerator {
    const known = this.made.get(workerId);
    if (known === undefined) {
      const generator = make();
      this.made.set(workerId, { configuration, generator });
      return generator;
    }
    if (known.configuration === configuration) return known.generator;
    const message =
      'is already used in this process by a generator with other options, whose IDs would repeat: pass the same ' +
      'options in every call, or give this one its own workerId';
    throw new ConfigurationError([{ option: 'workerId', given: String(workerId), message }]);
  }
}

/**
 * Issues IDs with a worker id that no lease protects, for scripts and tests: see `createGenerator`. While another
 * process has the same worker id, both issue the same IDs.
 */
export class UnsafeGenerator extends SnowflakeGenerator {
  /** The guarantee for the worker id: none. */
  readonly guarantee = 'unsafe';
  readonly workerId: number;

  constructor(
    setup: { readonly layout: Layout; readonly workerId: number; readonly options: ResolvedGeneratorOptions },
    ports: GeneratorPorts & { readonly timers: Timers },
  ) {
    const { layout, workerId, options } = setup;
    const tick = layout.timeline.tickAt(ports.clock.refresh());
    const tenure = new LaterTenure(workerId, { tick, sequence: layout.maxSequence });
    super({ layout, tenure, options }, ports);
    this.workerId = workerId;
  }

  /**
   * Returns the probability, 0 to 1, that two of `processes` processes, this one included, have the same worker id, if
   * none of them was given its worker id by hand.
   * @throws ConfigurationError when it is not an integer from 0 to 1,000,000
   */
  collisionOdds(processes: number): number {
    return collisionOdds(this.layout.maxWorkerId + 1, processes);
  }
}

/** Issues only above a position: everything up to it may have been issued by former runs. */
class LaterTenure extends StaticTenure {
  override readonly base: PerLane<Position>;

  constructor(workerId: number, begin: Position) {
    super(workerId);
    this.base = [begin, begin];
  }
}
