/** A fault to be planted in the sources, and the test that must notice it. */
export interface Mutant {
  readonly name: string;
  /** The promise that is broken, as a sentence. */
  readonly breaks: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** 1: `npm test`; 2: `npm run test:all`; 3: `npm run prove`. */
  readonly tier: 1 | 2 | 3;
  readonly spec: string;
  /** How the full names of the tests that fail begin; or any part of them. */
  readonly test: string;
}
