import type { Layout, Randomness } from '@raindrop/core';
import { option, type OptionReader, type OptionsOf, readOptions } from '@raindrop/core/internal';
import type { RemoteAnswer, RemoteTransport } from './remote-batch-source.js';
import {
  InvalidRemoteAnswerError,
  readRefusal,
  type RemoteIdsRefusedError,
  StaleRemoteAnswerError,
} from './remote-errors.js';
import { type RemoteFetchOptions, remoteIdSource, type RemoteIdSource } from './remote-id-source.js';

/** A header with a random token. The answer echoes it, which a stored answer to another request cannot. */
const REQUEST_HEADER = 'raindrop-request';

/** A header with the fingerprint of the layout of the IDs in an answer. */
const LAYOUT_HEADER = 'raindrop-layout';

/** The most bytes of an answer for each ID: it takes 22 with its quotes and comma, and there may be white space. */
const BYTES_PER_ID = 40;

/** The most bytes of an answer besides its IDs. */
const BYTES_BESIDE = 1_024;

/** The most bytes of a refusal. */
const BYTES_OF_REFUSAL = 16_384;

export const remoteIdsOptions = {
  /**
   * The address of the service, such as `https://ids.internal`; `/v1/ids` is added to its path.
   * @range an http: or https: URL without user, password, query and fragment
   */
  url: option<string, URL | undefined>(readUrl, { isRequired: true }),
  /**
   * Sent as `Authorization: Bearer ...`. It is never logged.
   * @range 1-1,024 visible ASCII characters @defaultValue none
   */
  apiKey: option<string | undefined, string | undefined>(readApiKey),
};

/** The options of `remoteIds()`. */
export interface RemoteIdsOptions extends RemoteFetchOptions, OptionsOf<typeof remoteIdsOptions> {}

/**
 * Makes an ID service over HTTP, such as `apps/id-service`, the source of a service's IDs. Batches are fetched ahead of need:
 * after the first ones, no call waits for a round trip.
 *
 * The layout is that of the ID service. Where this service has layout options, they must give the same one.
 */
export function remoteIds(options: RemoteIdsOptions): RemoteIdSource {
  return remoteIdSource(options, (reader) => {
    const { url, apiKey } = readOptions(reader, remoteIdsOptions);
    return ({ randomness }) => new HttpTransport(url!, apiKey, randomness);
  });
}

/**
 * Returns the headers that an answer to `POST /v1/ids` needs for clients that use `remoteIds()`: they name the request
 * that it answers, and the layout of the IDs. For ID services of your own; `apps/id-service` sends them.
 *
 * @param request the value of the request's header `raindrop-request`. A token of 1 to 64 letters, digits, `_` and `-`
 * is echoed; any other value is not, and the client then refuses the answer
 */
export function remoteIdsHeaders(layout: Layout, request: unknown): Record<string, string> {
  const isToken = typeof request === 'string' && /^[\w-]{1,64}$/.test(request);
  return {
    ...(isToken && { [REQUEST_HEADER]: request }),
    [LAYOUT_HEADER]: layout.fingerprint,
    'cache-control': 'no-store',
  };
}

/** The message does not show the value: it may hold a password. */
function readUrl(reader: OptionReader, name: string): URL | undefined {
  const given = reader.value(name);
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === '';
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return url;
  const legal = `an http: or https: URL without user, password, query and fragment: 'http://raindrop'`;
  reader.problem(
    name,
    typeof given === 'string' ? '(hidden)' : given,
    `${given === undefined ? 'is required' : 'must be'}: ${legal}`,
  );
  return undefined;
}

/** Reads an API key. No message shows its value. */
export function readApiKey(reader: OptionReader, name: string): string | undefined {
  const given = reader.value(name);
  if (given === undefined) return undefined;
  if (typeof given === 'string' && /^[\x21-\x7e]{1,1024}$/.test(given)) return given;
  reader.problem(
    name,
    typeof given === 'string' ? '(hidden)' : given,
    'must be a string of 1 to 1,024 visible ASCII characters, without white space',
  );
  return undefined;
}

/**
 * Asks an ID service over HTTP, by the global `fetch`. Connections are kept and certificates are checked; redirects are
 * not followed. An idle connection does not keep the process alive.
 */
export class HttpTransport implements RemoteTransport {
  readonly name: string;
  /** The address of the IDs, without a query. */
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
    // The path is set as text: resolved as a URL, a path that begins with two slashes would name another host.
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
    const text = await boundedText(response, BYTES_BESIDE + count * BYTES_PER_ID).catch(throwCause);
    if (text === undefined) throw new InvalidRemoteAnswerError(this.name, `is too long for ${count} IDs`);
    return { ids: this.idsOf(text), layout: response.headers.get(LAYOUT_HEADER) };
  }

  /** Does nothing: the connections belong to `fetch`, and close by themselves. */
  close(): void {}

  /** @throws Error that says why, and shows no part of the request */
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
    return fetch(url, { method: 'POST', headers, signal, redirect: 'manual' }).catch(throwCause);
  }

  private async refusal(response: Response): Promise<RemoteIdsRefusedError> {
    const { status, headers } = response;
    const question = `POST ${this.ids.href}`;
    const frame = { source: this.name, question, status, retryAfterMs: retryAfterMs(headers), secret: this.#apiKey };
    if (status >= 300 && status < 400 && headers.has('location')) {
      await discard(response);
      return readRefusal('redirects are not followed: use the final url', frame);
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

/** Undefined when the text is no JSON. */
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
 * Throws the cause of a `fetch failed`, whose own message says nothing.
 * @throws Error that says why, and shows no part of the request
 */
function throwCause(error: unknown): never {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  throw new Error(cause?.code || cause?.message || String(message));
}

/**
 * Reads the body of an answer as text. Undefined when it has more bytes than `most`: the rest is not read.
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

/** The pause for which `Retry-After` asks, ms; undefined without a legal one. */
function retryAfterMs(headers: Headers): number | undefined {
  const given = headers.get('retry-after');
  if (given === null) return undefined;
  const ms = /^\d{1,9}$/.test(given) ? Number(given) * 1_000 : untilDate(given, headers.get('date'));
  return ms >= 0 ? ms : undefined;
}

/** The time up to a date, by the clock of the sender: the clock of this host may differ. */
function untilDate(given: string, sent: string | null): number {
  return sent === null ? Number.NaN : Date.parse(given) - Date.parse(sent);
}
