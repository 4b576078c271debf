/** Writes what people should know of a service. Nest's `LoggerService` and most loggers are of this shape. */
export interface Logger {
  /** Takes what is good to know: a worker id acquired, or given back. */
  log(message: string, context?: string): unknown;
  /** Takes what works, and should be looked at. */
  warn(message: string, context?: string): unknown;
  /** Takes what does not work: no IDs are issued, or the database has lost some. */
  error(message: string, stack?: string, context?: string): unknown;
}

/** The logger of services that were given none: warnings and errors on standard error, and nothing else. */
export const consoleLogger: Logger = {
  log: () => undefined,
  warn: (message, context) => console.warn(`[${context}] ${message}`),
  error: (message, _stack, context) => console.error(`[${context}] ${message}`),
};

/** The name of the service that has none. */
export const DEFAULT_SERVICE = 'default';

/** The name under which a service logs. */
export function logContext(service: string): string {
  return service === DEFAULT_SERVICE ? 'Raindrop' : `Raindrop:${service}`;
}
