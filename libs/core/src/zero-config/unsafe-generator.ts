import type { GeneratorPorts } from '../generator/generator-ports.js';
import type { ResolvedGeneratorOptions } from '../generator/generator-options.js';
import type { PerLane, Position } from '../generator/position.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/static-tenure.js';
import type { Layout } from '../layout/layout.js';
import type { Timers } from '../time/timers.js';
import { collisionOdds } from '../worker-id/collision-odds.js';

/**
 * Issues IDs with a worker id that nobody vouches for, for scripts and tests: see `createGenerator`. While another
 * process has the same worker id, both issue the same IDs.
 */
export class UnsafeGenerator extends SnowflakeGenerator {
  /** What the worker id guarantees: nothing. */
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
   * Tells the odds, 0 to 1, that of so many processes, this one among them, two have the same worker id: what chance
   * says, where nobody gave one by hand.
   * @throws ConfigurationError when it is not an integer from 0 to 1,000,000
   */
  collisionOdds(processes: number): number {
    return collisionOdds(this.layout.maxWorkerId + 1, processes);
  }
}

/** Leaves everything up to a position to whoever had the worker id before. */
class LaterTenure extends StaticTenure {
  override readonly base: PerLane<Position>;

  constructor(workerId: number, begin: Position) {
    super(workerId);
    this.base = [begin, begin];
  }
}
