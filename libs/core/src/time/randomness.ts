/** Randomness, read at the moment of use: a copy of a process's memory must not see the same values. */
export interface Randomness {
  /** A number in [0, 1), for jitter and for random sequence starts. */
  fraction(): number;
  /** At least 96 unpredictable bits as text of at most 64 characters. */
  token(): string;
}
