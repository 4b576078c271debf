import { RaindropError } from '../raindrop-error.js';

/** One thing that is wrong with a configuration. */
export interface ConfigurationProblem {
  /** The option's name. */
  readonly option: string;
  /** What was given, as text (shortened). */
  readonly given: string;
  /** What is legal, why, and what to do. */
  readonly message: string;
}

/**
 * The configuration cannot work. Everything that is wrong is reported together, an option a line.
 */
export class ConfigurationError extends RaindropError {
  readonly errorCode = 'CONFIGURATION';

  constructor(readonly problems: readonly ConfigurationProblem[]) {
    const lines = problems.map(({ option, given, message }) => `  - ${option} = ${given}: ${message}`);
    super(`Raindrop is configured wrongly:\n${lines.join('\n')}`, { retryable: false });
  }
}
