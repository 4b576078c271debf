import { RemoteIdsRefusedError } from './remote-errors.js';

const LONGEST_DETAIL = 300;

/** What of a refusal is known without its words. */
export interface RefusalFrame {
  readonly source: string;
  /** The HTTP status; undefined over TCP, where the refusal may name one. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** What must not be repeated, should the service do so. */
  readonly secret?: string | undefined;
}

/** An error of what a service says when it refuses: problem details, or anything else. */
export function readRefusal(body: unknown, frame: RefusalFrame): RemoteIdsRefusedError {
  const { source, retryAfterMs, secret } = frame;
  const { errorCode, retryable, detail, message, title, ...rest } = (body ?? {}) as Record<string, unknown>;
  const status = frame.status ?? (Number.isInteger(rest['status']) ? (rest['status'] as number) : undefined);
  const words = [detail, message, title, body].find((each) => typeof each === 'string' && each !== '');
  return new RemoteIdsRefusedError(source, {
    status,
    errorCode: typeof errorCode === 'string' && /^[A-Z][A-Z_]{0,63}$/.test(errorCode) ? errorCode : undefined,
    detail: (words === undefined ? 'it does not say why' : printable(words as string, secret)) + hintFor(status),
    retryable: typeof retryable === 'boolean' ? retryable : mayPass(status),
    retryAfterMs,
  });
}

/** Statuses that ask for another attempt; where there is none, nothing is known. */
function mayPass(status: number | undefined): boolean {
  return status === undefined || status >= 500 || [408, 425, 429].includes(status);
}

function hintFor(status: number | undefined): string {
  if (status === 401 || status === 403) return '. Give the source an apiKey that the service knows.';
  if (status === 404 || status === 405) return '. Does the url lead to an ID service? It is asked POST <url>/v1/ids.';
  return '';
}

/** Short, on one line, without what is no text. */
function printable(words: string, secret: string | undefined): string {
  const shown = secret === undefined ? words : words.replaceAll(secret, '(hidden)');
  return shown.replace(/[\p{C}\s]+/gu, ' ').slice(0, LONGEST_DETAIL);
}
