import { AsyncLocalStorage } from 'node:async_hooks';

const { run, enterWith } = AsyncLocalStorage.prototype;
const used = new Set<AsyncLocalStorage<unknown>>();

/**
 * Jest makes a context of its own for each test file and leaves it enabled, as Node's libraries do. Up to Node 22 every
 * promise of the process then asks all of them: a worker's fortieth file took a third longer than its first.
 */
export function noteContexts(): void {
  AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...rest: unknown[]): unknown {
    used.add(this);
    return Reflect.apply(run, this, rest);
  } as typeof run;
  AsyncLocalStorage.prototype.enterWith = function (this: AsyncLocalStorage<unknown>, store: unknown) {
    used.add(this);
    enterWith.call(this, store);
  };
}

/** At the end of a test file. A context that is used again after it is enabled again by that use. */
export function disableContexts(): void {
  for (const context of used) context.disable();
  used.clear();
}
