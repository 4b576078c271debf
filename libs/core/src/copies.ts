/**
 * Returns the object that all copies of this code in one thread share under a name; the first copy makes it. npm may
 * install two versions of a package, and copies that do not share would both do work that must be done once. A release
 * that changes the object's shape must change its name.
 */
export function processWide<T>(name: string, make: () => T): T {
  const scope = globalThis as Record<symbol, unknown>;
  return (scope[Symbol.for(`raindrop: ${name}`)] ??= make()) as T;
}

/** Marks the prototype of `RaindropError` in every copy of this package. */
const MARK = Symbol.for('raindrop: error');

/** Marks a base class of errors for `isErrorNamed` of other copies of this package. */
export function markErrors(base: { readonly prototype: object }): void {
  Object.defineProperty(base.prototype, MARK, { value: true });
}

/**
 * Tells whether an error is of the class with this name, in the copy of the package that threw it. A minifier shortens the
 * names of classes without a static `name`: for these it returns false.
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
