import { RemoteIdsRefusedError } from './remote-errors.js';

const LONGEST_DETAIL = 300;

/** More than this is no refusal of ours, and not searched for words. */
const LONGEST_WORDS = 16_384;

/** Longer than this nobody is made to wait: it would be a mistake. */
const LONGEST_PAUSE_MS = 300_000;

/** What of a refusal is known without its words. */
export interface RefusalFrame {
  readonly source: string;
  /** What the service was asked: `POST http://ids:3000/v1/ids`. */
  readonly question: string;
  /** The HTTP status; undefined over TCP, where the refusal may name one. */
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
