import { RaindropError, showValue } from '@raindrop/core';
import { PermanentError, RetryableError } from '@raindrop/core/internal';

/** Characters of the service's own words that an error repeats. */
const LONGEST_DETAIL = 300;

/** A longer text is not the refusal of an ID service, and is not repeated. */
const LONGEST_WORDS = 16_384;

/** A service that asks for a longer pause than this is taken to be mistaken, ms. */
const LONGEST_PAUSE_MS = 300_000;

/** Why a service gave no IDs, in its own words. */
export interface RemoteRefusal {
  /** The HTTP status; undefined when none is known. */
  readonly status: number | undefined;
  readonly errorCode: string | undefined;
  readonly detail: string;
  readonly retryable: boolean;
  /** For how long the service does not want to be asked again, ms. */
  readonly retryAfterMs?: number | undefined;
}

/** The service refused. `errorCode`, message and `retryable` are those of its answer, where it has any. */
export class RemoteIdsRefusedError extends RaindropError {
  static override readonly name = 'RemoteIdsRefusedError';
  readonly errorCode: string = 'REMOTE_IDS_REFUSED';
  /** The HTTP status; undefined when none is known. */
  readonly status: number | undefined;
  /** For how long it is not asked again, ms; undefined when the answer does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(
    /** The source's name: `the ID service at http://raindrop`. */
    readonly source: string,
    { status, errorCode, detail, retryable, retryAfterMs }: RemoteRefusal,
  ) {
    const number = status === undefined ? '' : ` (${status})`;
    super(`${capital(source)} refused${number}: ${detail}`, { retryable });
    if (errorCode !== undefined) this.errorCode = errorCode;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The answer is not one of an ID service. No ID of it is used. */
export class InvalidRemoteAnswerError extends RetryableError {
  static override readonly name = 'InvalidRemoteAnswerError';
  readonly errorCode = 'INVALID_REMOTE_ANSWER';

  /** @param what what is wrong with the answer; the message is `An answer from <source> <what>` */
  constructor(
    readonly source: string,
    what: string,
  ) {
    super(`An answer from ${source} ${what}: it is discarded. Is it an ID service of this Raindrop version?`);
  }
}

/**
 * The answer does not name the request that was made. A cache between this process and the service may have stored it:
 * its IDs may have been issued already.
 */
export class StaleRemoteAnswerError extends RetryableError {
  static override readonly name = 'StaleRemoteAnswerError';
  readonly errorCode = 'STALE_REMOTE_ANSWER';

  constructor(
    readonly source: string,
    given: string | null,
  ) {
    const what = given === null ? 'names no request' : `is for another request (${showValue(given)})`;
    super(
      `An answer from ${source} ${what}: it may be a cached copy whose IDs are already used, and is discarded. No ` +
        `proxy may cache answers to POST, or drop the header Raindrop-Request; the service must echo it.`,
    );
  }
}

/** The service makes IDs of another layout than this process expects. */
export class RemoteLayoutError extends PermanentError {
  static override readonly name = 'RemoteLayoutError';
  readonly errorCode = 'REMOTE_LAYOUT';

  constructor(
    readonly source: string,
    /** The fingerprints. */
    readonly here: string,
    readonly there: string,
  ) {
    super(
      `The IDs of ${source} have the layout ${there}, but this process expects ${here}: omit the layout options to ` +
        `use the service's, or make them the same; if the service changed its layout, restart this process.`,
    );
  }
}

/** The facts about a refusal besides the body of the answer. */
interface RefusalFrame {
  readonly source: string;
  /** The request: `POST http://raindrop/v1/ids`. */
  readonly question: string;
  /** The HTTP status. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The API key: the error hides it if the service repeats it. */
  readonly secret?: string | undefined;
}

/** Makes an error of the body with which a service refuses: problem details (RFC 9457), or any other text or JSON. */
export function readRefusal(body: unknown, frame: RefusalFrame): RemoteIdsRefusedError {
  const { source, secret } = frame;
  const told = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const { errorCode, retryable } = told;
  const status = frame.status ?? (Number.isInteger(told['status']) ? (told['status'] as number) : undefined);
  const words = [told['detail'], told['message'], told['title'], body].find(areWords);
  return new RemoteIdsRefusedError(source, {
    status,
    errorCode: typeof errorCode === 'string' && /^[A-Z][A-Z_]{0,63}$/.test(errorCode) ? errorCode : undefined,
    detail: (words === undefined ? 'it does not say why' : printable(words, secret)) + hintFor(status, frame),
    retryable: typeof retryable === 'boolean' ? retryable : mayPass(status),
    retryAfterMs: pauseOf(frame.retryAfterMs ?? Number(told['retryAfterSeconds'] ?? NaN) * 1_000),
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether another attempt can succeed, by the status. True without one: then nothing is known. */
function mayPass(status: number | undefined): boolean {
  return status === undefined || status >= 500 || [408, 425, 429].includes(status);
}

function hintFor(status: number | undefined, { question }: RefusalFrame): string {
  if (status === 401 || status === 403) return '. Set an apiKey that the service knows.';
  if (status === 404 || status === 405) return `. Is it an ID service? It was asked ${question}.`;
  return '';
}

function pauseOf(ms: number): number | undefined {
  return ms >= 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}

function areWords(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_WORDS;
}

/** Shortens a text to one line, and drops control characters. */
function printable(words: string, secret: string | undefined): string {
  const shown = secret === undefined ? words : words.replaceAll(secret, '(hidden)');
  return shown.replace(/[\p{C}\s]+/gu, ' ').slice(0, LONGEST_DETAIL);
}
