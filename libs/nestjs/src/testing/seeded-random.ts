import type { Randomness } from '@raindrop/core';

const SEED = 1;

/** The same choices in every run. */
export class SeededRandom implements Randomness {
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
