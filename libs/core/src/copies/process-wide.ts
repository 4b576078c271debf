/**
 * Returns what all copies of this code in one thread share, such as two versions that npm has installed: copies that
 * know nothing of each other would both do what must be done once. Whoever changes the shape of what is shared changes
 * its name.
 */
export function processWide<T>(name: string, make: () => T): T {
  const scope = globalThis as Record<symbol, unknown>;
  return (scope[Symbol.for(`raindrop: ${name}`)] ??= make()) as T;
}
