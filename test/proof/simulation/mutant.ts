/** One rule of the design, broken. The library knows nothing of it: its classes are changed from outside. */
export interface Mutant {
  readonly rule: string;
  /** A seed whose schedule shows it, soon if there is one. */
  readonly shownBy: number;
  /** Breaks the rule; answers with what mends it. */
  readonly install: () => () => void;
  /** Every process uses one token for all its writes. */
  readonly constantTokens?: boolean;
}

/** Puts another method in the place of one. */
export function replace<T extends object, K extends keyof T & string>(
  owner: T,
  name: K,
  make: (original: T[K]) => T[K] & ThisType<T>,
): () => void {
  const original = Object.getOwnPropertyDescriptor(owner, name)!;
  Object.defineProperty(owner, name, { ...original, value: make(owner[name]) });
  return () => void Object.defineProperty(owner, name, original);
}

/** Puts another getter in the place of one. */
export function replaceGetter(owner: object, name: string, get: () => unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(owner, name)!;
  Object.defineProperty(owner, name, { configurable: true, get });
  return () => void Object.defineProperty(owner, name, original);
}
