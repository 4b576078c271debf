import { RaindropError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';

/**
 * The value is not an ID, or not one in the form that was asked for.
 *
 * The message is safe to log: the value is cut to 48 characters and everything but printable ASCII is escaped.
 */
export class InvalidIdError extends RaindropError {
  readonly errorCode = 'INVALID_ID';

  /** What was given, shortened and escaped; strings are in double quotes. */
  readonly given: string;

  constructor(
    /** The codec that refused the value, or `id` when the value was not a text. */
    readonly codec: string,
    value: unknown,
    /** What would have been accepted. */
    readonly legal: string,
    /** `Entity.property`, of a value for an entity. */
    readonly column?: string,
  ) {
    const given = showValue(value);
    const where = column === undefined ? '' : `${column}: `;
    const cure = column === undefined ? '' : ' Check IDs where they come in: a route with ParseIdPipe.';
    super(`${where}Not a valid ID (${codec}): ${given}. Legal: ${legal}.${cure}`, { retryable: false });
    this.given = given;
  }
}
