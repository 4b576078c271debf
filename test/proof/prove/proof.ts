/** One line of the table that `npm run prove` prints. */
export interface ProofRow {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly ok: boolean;
  /** How to run just this again. */
  readonly command: string;
}

/** A claim, and how it is put to the test. */
export interface Proof {
  /** For `--only`. */
  readonly name: string;
  run(seed: number): Promise<readonly ProofRow[]>;
}

/** A figure that must be at least `floor`. */
export function atLeast(what: string, measured: number, floor: number, command: string): ProofRow {
  const [target, shown] = [floor, measured].map((value) => value.toLocaleString('en-US'));
  return { what, target: `at least ${target}`, measured: shown!, ok: measured >= floor, command };
}

/** A figure that must be nothing. */
export function none(what: string, measured: number, command: string): ProofRow {
  return { what, target: '0', measured: measured.toLocaleString('en-US'), ok: measured === 0, command };
}
