import type { Layout, Randomness } from '@raindrop/core';
import {
  InvalidRemoteAnswerError,
  readRefusal,
  type RemoteIdsRefusedError,
  StaleRemoteAnswerError,
} from '../remote-errors.js';
import type { RemoteAnswer, RemoteTransport } from '../remote-batch-source.js';

/** An ID takes 22 bytes with its quotes and comma; the rest is white space, should there be some. */
const BYTES_PER_ID = 40;
const BYTES_BESIDE = 1_024;
const BYTES_OF_REFUSAL = 16_384;

/**
 * An ID service over HTTP, by the global `fetch`: connections are kept, certificates are checked, redirects are not
 * followed, and none of it keeps the process alive between requests.
 */
export class HttpTransport implements RemoteTransport {
  readonly name: string;
  /** Where IDs are, without a query. */
  private readonly ids: URL;
  readonly #apiKey: string | undefined;

  /** @param url without user, query and fragment; its path is the part before `/v1/ids` */
  constructor(
    url: URL,
    apiKey: string | undefined,
    private readonly randomness: Randomness,
  ) {
    const path = url.pathname.replace(/\/+$/, '');
    this.name = `the ID service at ${url.origin}${path}`;
    this.ids = new URL(url);
    // Not by resolving one against the other: a path that begins with two slashes would name another host.
    this.ids.pathname = `${path}/v1/ids`;
    this.#apiKey = apiKey;
  }

  async take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    const request = this.randomness.token();
    const response = await this.ask(count, code, request, signal);
    if (response.status !== 200 && response.status !== 201) throw await this.refusal(response);
    const echo = response.headers.get(REQUEST_HEADER);
    if (echo !== request) {
      await discard(response);
      throw new StaleRemoteAnswerError(this.name, echo);
    }
    const text = await boundedText(response, BYTES_BESIDE + count * BYTES_PER_ID).catch(plainly);
    if (text === undefined) throw new InvalidRemoteAnswerError(this.name, `is too long for ${count} IDs`);
    return { ids: this.idsOf(text), layout: response.headers.get(LAYOUT_HEADER) };
  }

  /** The connections are `fetch`'s, and close by themselves. */
  close(): void {}

  /** @throws Error that says why, and holds nothing of the request */
  private async ask(count: number, code: string | undefined, request: string, signal: AbortSignal): Promise<Response> {
    const url = new URL(this.ids);
    url.searchParams.set('count', String(count));
    if (code !== undefined) url.searchParams.set('code', code);
    const headers: Record<string, string> = {
      accept: 'application/json',
      'cache-control': 'no-store',
      [REQUEST_HEADER]: request,
    };
    if (this.#apiKey !== undefined) headers['authorization'] = `Bearer ${this.#apiKey}`;
    return fetch(url, { method: 'POST', headers, signal, redirect: 'manual' }).catch(plainly);
  }

  private async refusal(response: Response): Promise<RemoteIdsRefusedError> {
    const { status, headers } = response;
    const question = `POST ${this.ids.href}`;
    const frame = { source: this.name, question, status, retryAfterMs: retryAfterMs(headers), secret: this.#apiKey };
    if (status >= 300 && status < 400 && headers.has('location')) {
      await discard(response);
      return readRefusal('redirects are not followed: name the url that answers itself', frame);
    }
    const text = await boundedText(response, BYTES_OF_REFUSAL).catch(() => undefined);
    return readRefusal(text === undefined ? undefined : jsonOf(text), frame);
  }

  private idsOf(text: string): unknown {
    const answer = jsonOf(text) as { readonly ids?: unknown } | null | undefined;
    if (answer === undefined) throw new InvalidRemoteAnswerError(this.name, 'is not JSON');
    return answer?.ids;
  }
}

/** Undefined when it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}

/**
 * `fetch failed` says nothing; what it was is in the cause.
 * @throws Error that says why, and holds nothing of the request
 */
function plainly(error: unknown): never {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  throw new Error(cause?.code || cause?.message || String(message));
}

/** Names the request; random, and echoed by the answer, so that a stored answer is told from a fresh one. */
const REQUEST_HEADER = 'raindrop-request';

/** The fingerprint of the layout that the IDs of an answer have. */
const LAYOUT_HEADER = 'raindrop-layout';

/**
 * Returns the headers that an answer to `POST /v1/ids` needs for clients that use `remoteIds()`: they say which request
 * it is for, and what layout the IDs have. For services of your own; `apps/demo` sends it.
 *
 * @param request what the request's header `raindrop-request` says; anything but a short token is not echoed
 */
export function remoteIdsHeaders(layout: Layout, request: unknown): Record<string, string> {
  const isToken = typeof request === 'string' && /^[\w-]{1,64}$/.test(request);
  return {
    ...(isToken && { [REQUEST_HEADER]: request }),
    [LAYOUT_HEADER]: layout.fingerprint,
    'cache-control': 'no-store',
  };
}

/**
 * The body of an answer as text; undefined when it has more bytes than `most`, of which no more are read then.
 * @throws what reading the body throws
 */
async function boundedText(response: Response, most: number): Promise<string | undefined> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** For how long an answer asks not to be asked again, ms; undefined when it does not say so in a legal way. */
function retryAfterMs(headers: Headers): number | undefined {
  const given = headers.get('retry-after');
  if (given === null) return undefined;
  const ms = /^\d{1,9}$/.test(given) ? Number(given) * 1_000 : untilDate(given, headers.get('date'));
  return ms >= 0 ? ms : undefined;
}

/** By the sender's own clock, which may not be ours. */
function untilDate(given: string, sent: string | null): number {
  return sent === null ? Number.NaN : Date.parse(given) - Date.parse(sent);
}
