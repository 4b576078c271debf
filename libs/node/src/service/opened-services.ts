import { PermanentError, processWide } from '@raindrop/core/internal';

/** The part of an `IdService` that the list uses. */
interface Named {
  readonly name: string;
}

interface Opened extends Named {
  close(): Promise<void>;
}

/** The services of this process that were opened and not closed. All copies of this package share the list. */
const OPENED = processWide('opened services', () => new Set<Opened>());

/** Adds a service to the list. @returns takes it out */
export function noteOpened(service: Opened): () => void {
  OPENED.add(service);
  return () => void OPENED.delete(service);
}

/**
 * Returns the open service with this name, for what is declared before any service is opened, such as a schema at module
 * level: it asks when it needs an ID.
 * @throws NoOpenServiceError when none or several are open
 */
export function openedService<Service extends Named>(name: string): Service {
  let found: Named | undefined;
  let count = 0;
  // It is called for every row: a list of those that fit would take as long as the ID.
  for (const each of OPENED) {
    if (each.name !== name) continue;
    found = each;
    count++;
  }
  if (count === 1) return found as Service;
  throw new NoOpenServiceError(name, count, [...new Set([...OPENED].map((each) => each.name))]);
}

/** Closes the services that are open in this process, of all copies of this package. */
export async function closeOpenedServices(): Promise<void> {
  await Promise.all([...OPENED].map((each) => each.close()));
}

/** No service of the name is open in this process, or several are, so that it is not clear which one is meant. */
export class NoOpenServiceError extends PermanentError {
  static override readonly name = 'NoOpenServiceError';
  readonly errorCode = 'NO_OPEN_SERVICE';

  constructor(
    readonly service: string,
    /** How many services of the name are open: 0, or 2 and more. */
    readonly count: number,
    open: readonly string[],
  ) {
    super(
      `${count === 0 ? 'No service' : `${count} services`} named '${service}' ${count < 2 ? 'is' : 'are'} open in this process. ` +
        (count === 0
          ? `Await openIdService() before the first insert, and close it after the last. In Nest, import ` +
            `RaindropModule, and inject IdService into providers that insert at startup. Open now: ` +
            `${open.length === 0 ? 'none' : open.map((each) => `'${each}'`).join(', ')}.`
          : `Select one: pass it as 'ids', or give each its own 'service' name.`),
    );
  }
}
