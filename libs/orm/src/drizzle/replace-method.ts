/** The methods of Drizzle's classes that this package replaces, because Drizzle has no hook in their places. */

/** A class of Drizzle. Its ESM and its CommonJS modules have one each. */
export interface DrizzleClass {
  readonly prototype: object;
}

type Method<This, Args extends unknown[]> = (this: This, ...args: Args) => unknown;

/**
 * Replaces a method of a class, once in a process: a second copy of this package finds it replaced.
 * @param make makes the new method of Drizzle's own
 */
export function replaceMethod<This, Args extends unknown[]>(
  { prototype }: DrizzleClass,
  name: string,
  make: (original: Method<This, Args>) => Method<This, Args>,
): void {
  const replaced = Symbol.for(`@raindrop/orm:${name}`);
  if (Object.hasOwn(prototype, replaced)) return;
  const methods = prototype as Record<string, Method<This, Args>>;
  Object.defineProperty(prototype, replaced, { value: true });
  methods[name] = make(methods[name]!);
}
