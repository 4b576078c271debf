import { RaindropError, showValue } from '@raindrop/core';

/** The refusal says why a service gave no IDs, in its own words. */
export interface RemoteRefusal {
  /** As in HTTP; undefined when none is known. */
  readonly status: number | undefined;
  readonly errorCode: string | undefined;
  readonly detail: string;
  readonly retryable: boolean;
  /** For so long the service wants not to be asked, ms. */
  readonly retryAfterMs?: number | undefined;
}

/** The service refused; code, words and `retryable` are its own, where it says any. */
export class RemoteIdsRefusedError extends RaindropError {
  readonly errorCode: string = 'REMOTE_IDS_REFUSED';
  /** As in HTTP; undefined when none is known. */
  readonly status: number | undefined;
  /** For so long it is not asked again, ms; undefined when it did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(
    /** As the source calls itself. */
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

/** The answer is one that no ID service gives. Nothing of it is used. */
export class InvalidRemoteAnswerError extends RaindropError {
  readonly errorCode = 'INVALID_REMOTE_ANSWER';

  /** @param what is wrong with it: `An answer of ... <what>` */
  constructor(
    readonly source: string,
    what: string,
  ) {
    super(`An answer of ${source} ${what}: nothing of it is used. Is it an ID service, of this version of Raindrop?`, {
      retryable: true,
    });
  }
}

/**
 * The answer does not name the request that was made: something on the way stores answers and gives them again, and
 * IDs out of it would be handed out twice.
 */
export class StaleRemoteAnswerError extends RaindropError {
  readonly errorCode = 'STALE_REMOTE_ANSWER';

  constructor(
    readonly source: string,
    given: string | null,
  ) {
    const what = given === null ? 'names no request' : `is for another request (${showValue(given)})`;
    super(
      `An answer of ${source} ${what}: it may be a copy whose IDs are used already, and nothing of it is used. Let ` +
        `nothing on the way store answers to POST, or drop the header Raindrop-Request; the service must echo it.`,
      { retryable: true },
    );
  }
}

/** The service makes IDs of another layout than this process takes them to have. */
export class RemoteLayoutError extends RaindropError {
  readonly errorCode = 'REMOTE_LAYOUT';

  constructor(
    readonly source: string,
    /** The fingerprints. */
    readonly here: string,
    readonly there: string,
  ) {
    super(
      `The IDs of ${source} have the layout ${there}, and this process reads them as ${here}: leave the layout options ` +
        `out, which takes the service's, or make them the same; when the service has changed its layout, restart this ` +
        `process.`,
      { retryable: false },
    );
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const LONGEST_DETAIL = 300;

/** More than this is no refusal of ours, and not searched for words. */
const LONGEST_WORDS = 16_384;

/** Longer than this nobody is made to wait: it would be a mistake. */
const LONGEST_PAUSE_MS = 300_000;

/** What of a refusal is known without its words. */
interface RefusalFrame {
  readonly source: string;
  /** What the service was asked: `POST http://ids:3000/v1/ids`. */
  readonly question: string;
  /** The HTTP status. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** What must not be repeated, should the service do so. */
  readonly secret?: string | undefined;
}

/** An error of what a service says when it refuses: problem details, or anything else. */
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

/** Statuses that ask for another attempt; where there is none, nothing is known. */
function mayPass(status: number | undefined): boolean {
  return status === undefined || status >= 500 || [408, 425, 429].includes(status);
}

function hintFor(status: number | undefined, { question }: RefusalFrame): string {
  if (status === 401 || status === 403) return '. Give the source an apiKey that the service knows.';
  if (status === 404 || status === 405) return `. Is it an ID service? It was asked ${question}.`;
  return '';
}

function pauseOf(ms: number): number | undefined {
  return ms >= 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}

function areWords(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_WORDS;
}

/** Short, on one line, without what is no text. */
function printable(words: string, secret: string | undefined): string {
  const shown = secret === undefined ? words : words.replaceAll(secret, '(hidden)');
  return shown.replace(/[\p{C}\s]+/gu, ' ').slice(0, LONGEST_DETAIL);
}
