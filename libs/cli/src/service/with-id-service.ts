import { openIdService, type IdService, type Logger, type SnowflakeModuleOptions } from '@raindrop/node';
import type { CliOutput } from '../io/cli-output.js';

/**
 * A start that is under way when the command is interrupted may go on for this time, ms: then it gives its worker id
 * back.
 */
const GIVE_UP_MS = 3_000;

/**
 * Does the work with a service that holds a worker id, then gives the id back, also when the work fails.
 * @throws the error that keeps the service from starting; what the work throws
 */
export async function withIdService<T>(
  options: SnowflakeModuleOptions,
  output: CliOutput,
  work: (ids: IdService) => Promise<T>,
): Promise<T> {
  output.interruption.check();
  // From here on a worker id may have to be given back.
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

/**
 * Waits for the start. It can take minutes and cannot be cancelled: after an interruption it is waited for some
 * seconds.
 */
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

/** Shows warnings and errors; a command that ends soon does not show the service's other messages. */
function loggerOf(output: CliOutput): Logger {
  const warn = (message: string): void => output.warn(message);
  return { log: () => undefined, warn, error: warn };
}
