import type { Randomness } from '@raindrop/core';
import { readRefusal } from '../read-refusal.js';
import { InvalidRemoteAnswerError, StaleRemoteAnswerError, type RemoteIdsRefusedError } from '../remote-errors.js';
import type { RemoteAnswer, RemoteTransport } from '../remote-transport.js';
import { boundedText } from './bounded-text.js';
import { LAYOUT_HEADER, REQUEST_HEADER } from './remote-headers.js';
import { retryAfterMs } from './retry-after.js';

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
