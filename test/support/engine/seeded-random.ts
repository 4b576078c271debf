/**
 * sfc32 by Chris Doty-Humphrey (of PractRand; public domain): small, fast, and good in all of its bits. A seed gives the
 * same numbers everywhere.
 */
export class SeededRandom {
  private a: number;
  private b = 0x9e3779b9;
  private c = 0x243f6a88;
  private counter = 1;

  constructor(seed: number) {
    this.a = seed | 0;
    this.b ^= Math.floor(seed / 2 ** 32);
    for (let round = 0; round < 15; round++) this.bits();
  }

  /** 32 random bits. */
  bits(): number {
    const sum = (this.a + this.b + this.counter++) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** In [0, 1). */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  between(low: number, high: number): number {
    return low + this.fraction() * (high - low);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries[0]![0];
  }
}
