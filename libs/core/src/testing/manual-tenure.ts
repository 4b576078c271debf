import { AFTER_ALL, BEFORE_ALL, type Lane, type PerLane, type Position, type Tenure } from '../generator/tenure.js';
import type { RaindropError } from '../raindrop-error.js';

/** What a test may set. */
export type TenureState = Pick<Tenure, 'workerId' | 'number' | 'lane' | 'base' | 'limit' | 'soft' | 'flipping'> & {
  readonly refusal: RaindropError | undefined;
};

/** A tenure under a test's control: it grants what it is told to and writes down what it is asked for. */
export class ManualTenure implements Tenure {
  workerId = 1;
  number = 1;
  lane: Lane = 0;
  base: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  limit: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  soft: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  flipping = false;
  refusal: RaindropError | undefined;

  /** `extension`, `flip 0` and `flip 1`, in the order of asking. */
  readonly requests: string[] = [];
  /** The values of the clock that were shown. */
  readonly seen: number[] = [];
  private listener: () => void = () => undefined;

  constructor(state: Partial<TenureState> = {}) {
    Object.assign(this, state);
  }

  /** Changes what is granted and tells the generator. */
  change(state: Partial<TenureState>): void {
    Object.assign(this, state);
    this.listener();
  }

  admit(wallMs: number): RaindropError | undefined {
    this.seen.push(wallMs);
    return this.refusal;
  }

  requestExtension(): void {
    this.requests.push('extension');
  }

  requestFlip(lane: Lane): void {
    this.requests.push(`flip ${lane}`);
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }
}
