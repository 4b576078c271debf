import { MAX_ID } from '@raindrop/core/internal';
import type { WorkerGuarantee } from '../ports/worker.js';

/** Marks our messages on a channel that others use as well; another version of them is a stranger's. */
const MARK = 'raindrop/ids/2';

/** The most IDs that one answer has: encoding and decoding them stays under a millisecond. */
export const MAX_ANSWER = 10_000;

/** The longest that a worker may let the primary wait, ms. */
const MAX_WAIT_MS = 60_000;

const GUARANTEES: Record<WorkerGuarantee, true> = {
  reserved: true,
  fresh: true,
  exclusive: true,
  declared: true,
  unsafe: true,
};

/** A worker wants IDs. */
export interface IdRequest {
  readonly raindrop: typeof MARK;
  readonly kind: 'take';
  /** The name of the service whose IDs they are. */
  readonly service: string;
  /** Different for every request of every worker. */
  readonly request: string;
  readonly count: number;
  /** Left out for IDs without one. */
  readonly code?: string;
  /** The fingerprint of the layout that the worker takes them to have; left out before it knows one. */
  readonly layout?: string;
  /** For so long an answer is of use, ms. */
  readonly waitMs: number;
}

/** Where the IDs of an answer come from. */
export interface IdOrigin {
  /** The primary's worker id, which they have. */
  readonly workerId: number | undefined;
  /** What is known of it there. */
  readonly guarantee: WorkerGuarantee;
  /** The fingerprint of their layout. */
  readonly layout: string;
}

/** One of our errors, as it travels. */
export interface TravellingError {
  readonly errorCode: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** The primary answers with IDs, or says why not. */
export type IdAnswer =
  | (IdOrigin & {
      readonly raindrop: typeof MARK;
      readonly kind: 'taken';
      readonly request: string;
      readonly runs: readonly IdRun[];
    })
  | {
      readonly raindrop: typeof MARK;
      readonly kind: 'refused';
      readonly request: string;
      readonly error: TravellingError;
    };

/** What an answer comes to in the worker. */
type ReadAnswer = { readonly ids: bigint[]; readonly origin: IdOrigin } | TravellingError;

export function idRequest(wanted: Omit<IdRequest, 'raindrop' | 'kind'>): IdRequest {
  return { raindrop: MARK, kind: 'take', ...wanted };
}

export function taken(request: string, origin: IdOrigin, runs: readonly IdRun[]): IdAnswer {
  return { raindrop: MARK, kind: 'taken', request, ...origin, runs };
}

export function refused(request: string, error: TravellingError): IdAnswer {
  return { raindrop: MARK, kind: 'refused', request, error };
}

/** The request that a message for this service stands for, `malformed` with its number, or undefined for all else. */
export function readRequest(message: unknown, service: string): IdRequest | { malformed: string } | undefined {
  if (!isOurs(message, 'take') || message['service'] !== service) return undefined;
  const { request, count, code, layout, waitMs } = message;
  if (!isText(request, 100)) return undefined;
  const isWhole =
    isInteger(count, 1, MAX_ANSWER) &&
    (code === undefined || typeof code === 'string') &&
    (layout === undefined || isText(layout, 1_000)) &&
    isInteger(waitMs, 0, MAX_WAIT_MS);
  return isWhole ? (message as unknown as IdRequest) : { malformed: request };
}

/** The number of the request that a message answers; undefined for all that is no answer of ours. */
export function answeredRequest(message: unknown): string | undefined {
  if (!isOurs(message, 'taken') && !isOurs(message, 'refused')) return undefined;
  return typeof message['request'] === 'string' ? message['request'] : undefined;
}

/** What an answer to a request for `count` IDs says; undefined when it is malformed. */
export function readAnswer(answer: unknown, count: number): ReadAnswer | undefined {
  const { kind, runs, workerId, guarantee, layout, error } = answer as Record<string, unknown>;
  if (kind === 'refused') return isTravellingError(error) ? error : undefined;
  const ids = decodeIds(runs, count);
  if (ids === undefined || !isGuarantee(guarantee) || !isText(layout, 1_000)) return undefined;
  return {
    ids,
    origin: { workerId: isInteger(workerId, 0, Number.MAX_SAFE_INTEGER) ? workerId : undefined, guarantee, layout },
  };
}

function isOurs(message: unknown, kind: string): message is Record<string, unknown> {
  const ours = (message ?? {}) as Record<string, unknown>;
  return ours['raindrop'] === MARK && ours['kind'] === kind;
}

function isTravellingError(error: unknown): error is TravellingError {
  const { errorCode, message, retryable } = (error ?? {}) as Record<string, unknown>;
  return (
    typeof errorCode === 'string' &&
    /^[A-Z][A-Z_]{0,63}$/.test(errorCode) &&
    isText(message, 10_000) &&
    typeof retryable === 'boolean'
  );
}

function isGuarantee(value: unknown): value is WorkerGuarantee {
  return typeof value === 'string' && Object.hasOwn(GUARANTEES, value);
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= longest;
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/**
 * IDs that follow each other by the same step: `[first, count, step]`, the IDs as decimal text since JSON knows no bigint.
 * Most of a tick is one run.
 */
type IdRun = readonly [first: string, count: number, step: string];

/** IDs as runs, in their order. */
export function encodeIds(ids: readonly bigint[]): IdRun[] {
  const runs: IdRun[] = [];
  for (let from = 0; from < ids.length;) {
    const first = ids[from]!;
    const step = from + 1 < ids.length ? ids[from + 1]! - first : 0n;
    let end = from + 1;
    // After a clock that went back IDs may go down: there a run ends.
    if (step > 0n) while (end < ids.length && ids[end]! - ids[end - 1]! === step) end++;
    runs.push([first.toString(), end - from, end - from === 1 ? '1' : step.toString()]);
    from = end;
  }
  return runs;
}

/**
 * The IDs of runs, in their order; undefined when the value is not made of runs, has more than `most` IDs or none, or one
 * that is none.
 */
export function decodeIds(runs: unknown, most: number): bigint[] | undefined {
  if (!Array.isArray(runs) || runs.length > most) return undefined;
  const ids: bigint[] = [];
  for (const run of runs) {
    if (!isRun(run) || ids.length + run[1] > most) return undefined;
    const [first, count, step] = [BigInt(run[0]), run[1], BigInt(run[2])];
    if (first + BigInt(count - 1) * step > MAX_ID) return undefined;
    for (let id = first, left = count; left > 0; left--, id += step) ids.push(id);
  }
  return ids.length > 0 ? ids : undefined;
}

function isRun(run: unknown): run is IdRun {
  if (!Array.isArray(run) || run.length !== 3) return false;
  const [first, count, step] = run as unknown[];
  return isDecimal(first) && isDecimal(step) && step !== '0' && Number.isSafeInteger(count) && (count as number) >= 1;
}

/** As a bigint writes itself, in up to 19 digits. */
function isDecimal(text: unknown): text is string {
  return typeof text === 'string' && /^(0|[1-9]\d{0,18})$/.test(text);
}
