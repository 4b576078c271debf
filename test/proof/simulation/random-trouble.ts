import type { Fault, StoreCall } from '../../support/engine/fault-store.js';
import type { SeededRandom } from '../../support/engine/seeded-random.js';

/** A request and what it meets. */
export interface Trouble {
  readonly call: StoreCall;
  readonly fault: Fault;
}

const RUNNING: Readonly<Record<StoreCall, number>> = {
  write: 10,
  readRow: 5,
  readSample: 3,
  readTable: 1,
  readAgain: 2,
  rememberLayout: 1,
  prepare: 1,
};

const STARTING: Readonly<Partial<Record<StoreCall, number>>> = {
  write: 6,
  readSample: 2,
  readTable: 1,
  readAgain: 2,
  rememberLayout: 2,
  prepare: 1,
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const CLOCK_STEPS = [1, 5, 40, 900, 900, 3_000, 3_000, 20_000, MINUTE, HOUR, DAY, 40 * DAY, YEAR, 30 * YEAR];
const DATABASE_STEPS = [1, 500, 3_000, MINUTE, HOUR];

/** Makes up what goes wrong with requests and clocks. */
export class RandomTrouble {
  constructor(
    private readonly random: SeededRandom,
    private readonly opTimeoutMs: number,
  ) {}

  /** For a process that runs. */
  running(): Trouble {
    return { call: this.random.weighted(RUNNING), fault: this.fault() };
  }

  /** For the first requests of a process. */
  starting(): Trouble {
    return { call: this.random.weighted(STARTING), fault: this.fault() };
  }

  /** For two that have one row: what one reads, the other may have changed before it writes. */
  rivalry(): Trouble {
    const { random, opTimeoutMs } = this;
    if (random.chance(0.3)) return { call: 'write', fault: this.fault() };
    const thereMs = random.below(opTimeoutMs * 0.4);
    return {
      call: random.pick(['readRow', 'write']),
      fault: { kind: 'slow', thereMs, backMs: random.below(opTimeoutMs * 0.5) },
    };
  }

  /** From a millisecond to 30 years, both ways. */
  clockStep(): number {
    return this.random.pick([-1, 1]) * this.about(this.random.pick(CLOCK_STEPS));
  }

  databaseStep(): number {
    return this.random.pick([-1, 1]) * this.about(this.random.pick(DATABASE_STEPS));
  }

  /** Whole milliseconds, a fifth more or less. */
  about(ms: number): number {
    return Math.max(1, Math.round(ms * (0.8 + 0.4 * this.random.fraction())));
  }

  private fault(): Fault {
    const { random, opTimeoutMs } = this;
    switch (random.below(6)) {
      case 0:
        return { kind: 'refused' };
      case 1:
        return { kind: 'answer-lost' };
      case 2:
        return { kind: 'hangs' };
      case 3:
      case 4:
        return { kind: 'ghost', afterMs: this.about(opTimeoutMs * random.pick([0.1, 1.1, 3, 12, 40])) };
      default: {
        const delay = (): number => this.about(opTimeoutMs * random.pick([0.01, 0.3, 0.45, 1.5]));
        return { kind: 'slow', thereMs: delay(), backMs: delay() };
      }
    }
  }
}
