import { ConfigurationError } from '../config/configuration-error.js';
import type { HostScope } from './host-scope.js';
import type { UnsafeGenerator } from './unsafe-generator.js';

/** Shared by all copies of this code in one scope: two copies that know nothing of each other would repeat IDs. */
const GENERATORS = Symbol.for('@raindrop/core: generators of this process');

/** The zero-configuration generators that a scope has made: one for a worker id. */
export class GeneratorsOfProcess {
  private readonly made = new Map<number, { readonly configuration: string; readonly generator: UnsafeGenerator }>();
  private drawn: number | undefined;

  static of(scope: HostScope & { [GENERATORS]?: GeneratorsOfProcess }): GeneratorsOfProcess {
    return (scope[GENERATORS] ??= new GeneratorsOfProcess());
  }

  /** The worker id of those who name none; drawn once, since some of it may be random. */
  workerId(draw: () => number): number {
    return (this.drawn ??= draw());
  }

  /**
   * The generator of a worker id, made when there is none.
   * @param configuration tells generators apart
   * @throws ConfigurationError when it has one that is configured differently
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
      'is used in this process already by a generator with other options, whose IDs would be repeated: ' +
      'pass the same options at every call, or give this one a workerId of its own';
    throw new ConfigurationError([{ option: 'workerId', given: String(workerId), message }]);
  }
}
