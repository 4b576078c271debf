import { Logger } from '@nestjs/common';
import type { RaindropError, Randomness } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import { DEFAULT_SERVICE, logContext, refuseNonObject, SnowflakeEngine } from '@raindrop/node/internal';
import { IdService } from '../id.service.js';
import { ManualClock, type TestClock } from './manual-clock.js';
import { FakeWorker } from './fake-worker.js';
import { resolveTestOptions, type TestIdServiceOptions } from './testing.options.js';

const SEED = 1;

/** Makes the same choices in every run. */
class SeededRandom implements Randomness {
  private seed = SEED;

  fraction(): number {
    this.seed = (this.seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.seed / 2 ** 32;
  }

  token(): string {
    return `token-${this.fraction()}`;
  }

  reset(): void {
    this.seed = SEED;
  }
}

/**
 * Holds an `IdService` for tests, and steers its clock, its lease and its refusals.
 *
 * The generator is the real one. The same calls give the same IDs in every run and on every machine. No ID is issued
 * twice, whatever the test does to clock and lease; only {@link reset} begins anew.
 */
export class RaindropTestbed {
  readonly ids: IdService;
  readonly clock: TestClock;
  private readonly startMs: number;
  private readonly worker: FakeWorker;
  private readonly randomness = new SeededRandom();

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(options: TestIdServiceOptions = {}) {
    refuseNonObject('options', options, 'must be an object with the options');
    const resolved = resolveTestOptions(options);
    const { name, startMs, workerId, lint, logger = new Logger() } = resolved;
    const { layout, firstLane } = resolved.layout;
    const worker = new FakeWorker(workerId, firstLane);
    const clock = new ManualClock(startMs, () => worker.wake());
    const generator = new SnowflakeGenerator(
      { layout, tenure: worker, options: resolved.generator },
      { clock, monotonic: clock.monotonic, timers: clock, randomness: this.randomness },
    );
    worker.setHighestIssued((lane) => generator.highest(worker, lane));
    const engine = new SnowflakeEngine(generator, worker, { assigner: 'test', guarantee: 'reserved' });
    const warn = (message: string): void => void logger.warn(message, logContext(name));
    this.ids = new IdService(name, engine, { mode: lint, warn });
    this.clock = clock;
    this.startMs = startMs;
    this.worker = worker;
  }

  /**
   * Takes the worker id away: calls throw `LeaseLostError`, the async ones wait, `status().state` is `lost`, and
   * `lease-lost` is emitted. Nothing happens when it is lost already.
   */
  loseLease(reason = 'the test took it away'): void {
    this.worker.lose(reason);
  }

  /**
   * Gives the service a worker id again, by default the one that was lost: calls that wait go on, and `lease-regained`
   * is emitted. While a worker id is held, the same id changes nothing, and another one is taken after `lease-lost`.
   * @throws InvalidPartError for a worker id that does not fit the layout
   */
  regainLease(workerId = this.worker.workerId): void {
    this.ids.layout.pack({ tick: 0, workerId, clockBack: 0, sequence: 0 });
    this.worker.regain(workerId);
  }

  /**
   * Makes every call throw this error, until it is called without one, or {@link reset} is. The async calls wait when
   * the error is `retryable`.
   */
  refuseWith(error?: RaindropError): void {
    this.worker.refuseWith(error);
  }

  /**
   * Goes back to the start, for the next test: clock and worker id are those of the start, and the same IDs are issued
   * once more. Calls that still wait go on and take the first IDs. Listeners stay, and `status().counters` go on
   * counting.
   */
  reset(): void {
    this.randomness.reset();
    this.worker.reset();
    this.clock.set(this.startMs);
  }
}

/**
 * Makes an `IdService` without Nest, without a database and without waiting:
 * `const { ids, clock } = createTestIdService();`
 * @throws ConfigurationError naming every option that is wrong
 */
export function createTestIdService(options: TestIdServiceOptions = {}): RaindropTestbed {
  return new RaindropTestbed(options);
}

/** Returns the token of a `RaindropTestbed`: the class itself for the default service, a string for a named one. */
export function getTestbedToken(name: string = DEFAULT_SERVICE): typeof RaindropTestbed | string {
  return name === DEFAULT_SERVICE ? RaindropTestbed : `RaindropTestbed:${name}`;
}
