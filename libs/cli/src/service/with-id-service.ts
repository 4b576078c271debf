import { openIdService, type IdService, type Logger, type SnowflakeModuleOptions } from '@raindrop/node';
import type { CliOutput } from '../io/cli-output.js';

/** For a start that is under way, which gives back what it gets. */
const GIVE_UP_MS = 3_000;

/**
 * Does the work with a service that holds a worker id, and gives it back whatever happens.
 * @throws what keeps the service from starting, and what the work throws
 */
export async function withIdService<T>(
  options: SnowflakeModuleOptions,
  output: CliOutput,
  work: (ids: IdService) => Promise<T>,
): Promise<T> {
  output.interruption.check();
  // From here on there may be a worker id to give back.
  output.interruption.hold();
  const starting = openIdService({ ...options, logger: loggerOf(output) });
  const ids = await orGivenUp(starting, output.interruption.signal);
  try {
    output.interruption.check();
    return await work(ids);
  } finally {
    await ids.close();
  }
}

/** A start can wait for minutes, and cannot be called off: one that is ended before has some seconds left. */
function orGivenUp(starting: Promise<IdService>, signal: AbortSignal): Promise<IdService> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const giveUp = (): void => {
      isOver = true;
      reject(signal.reason as Error);
    };
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => void (timer = setTimeout(giveUp, GIVE_UP_MS));
    signal.addEventListener('abort', end, { once: true });
    starting
      .then((ids) => (isOver ? ids.close() : resolve(ids)), reject)
      .catch(() => undefined)
      .finally(() => {
        signal.removeEventListener('abort', end);
        clearTimeout(timer);
      });
  });
}

/** Warnings for people; the rest is of no interest to a command that ends in a moment. */
function loggerOf(output: CliOutput): Logger {
  const warn = (message: string): void => output.warn(message);
  return { log: () => undefined, warn, error: warn };
}
