/**
 * Returns what all copies of this code in one thread share, such as two versions that npm has installed: copies that
 * know nothing of each other would both do what must be done once. Whoever changes the shape of what is shared changes
 * its name.
 */
export function processWide<T>(name: string, make: () => T): T {
  const scope = globalThis as Record<symbol, unknown>;
  return (scope[Symbol.for(`raindrop: ${name}`)] ??= make()) as T;
}

/** On the prototype of `RaindropError` in every copy of this package. */
const MARK = Symbol.for('raindrop: error');

/** Lets `isErrorNamed` of other copies of this package know a base class of errors. */
export function markErrors(base: { readonly prototype: object }): void {
  Object.defineProperty(base.prototype, MARK, { value: true });
}

/**
 * Tells whether an error is of the class that has this name in whichever copy of the package threw it. The names of a
 * minified bundle say nothing: there every copy knows its own classes only.
 */
export function isErrorNamed(name: string, error: unknown): boolean {
  if (!name.endsWith('Error') || typeof error !== 'object' || error === null || !(MARK in error)) return false;
  let prototype = Object.getPrototypeOf(error) as object;
  while (MARK in prototype) {
    if (prototype.constructor.name === name) return true;
    prototype = Object.getPrototypeOf(prototype) as object;
  }
  return false;
}
