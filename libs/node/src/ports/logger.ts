/** Writes the messages of a service. Nest's `LoggerService` and most loggers have this shape. */
export interface Logger {
  /** Takes information: a worker id was acquired, or given back. */
  log(message: string, context?: string): unknown;
  /** Takes warnings: it works, and an operator should look at something. */
  warn(message: string, context?: string): unknown;
  /** Takes errors: no IDs are issued, or the database has lost writes. */
  error(message: string, stack?: string, context?: string): unknown;
}

/** The default logger: warnings and errors go to standard error, information is dropped. */
export const consoleLogger: Logger = {
  log: () => undefined,
  warn: (message, context) => console.warn(`[${context}] ${message}`),
  error: (message, _stack, context) => console.error(`[${context}] ${message}`),
};

/** The name of a service whose options name none. */
export const DEFAULT_SERVICE = 'default';

/** Returns the name under which a service logs: `Raindrop`, or `Raindrop:orders` for the service 'orders'. */
export function logContext(service: string): string {
  return service === DEFAULT_SERVICE ? 'Raindrop' : `Raindrop:${service}`;
}
