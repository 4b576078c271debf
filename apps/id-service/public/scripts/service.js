/** Longer than the service waits for anything (5 s for its database), so that its own error is what is shown. */
const TIMEOUT_MS = 15_000;

/** An answer that is no success, or none at all (`status` 0). */
export class ServiceProblem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.message ?? body.title ?? 'The service does not answer.');
    this.status = status;
    /** @type {readonly { option: string, given: string, message: string }[]} */
    this.problems = body.problems ?? [];
    /** Whether it may work a moment later: no answer, too many requests, or no ID right now. */
    this.passing = status === 0 || status === 429 || body.retryable === true;
  }
}

/**
 * Asks the service that sent this page.
 * @param {{ method?: string, body?: unknown, key?: string }} options `key`: an API key
 * @throws {ServiceProblem}
 */
export async function ask(path, { method = 'GET', body, key } = {}) {
  const headers = { accept: 'application/json, application/problem+json' };
  if (key) headers['x-api-key'] = key;
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  let answer;
  try {
    response = await fetch(new URL(path, document.baseURI), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    answer = await response.text();
  } catch {
    throw new ServiceProblem(0, {});
  }
  const parsed = parse(answer);
  if (!response.ok)
    throw new ServiceProblem(response.status, parsed ?? { title: `The service answered ${response.status}.` });
  if (parsed === undefined) throw new ServiceProblem(0, { title: 'The answer does not come from the service.' });
  return parsed;
}

function parse(text) {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * New IDs of the service, as texts.
 * @param {string} key an API key, or nothing: some services want one
 * @param {{ format?: string, code?: string }} form
 * @throws {ServiceProblem}
 */
export async function takeIds(count, key, { format = 'decimal', code = '' } = {}) {
  const query = new URLSearchParams({ count, format, ...(code !== '' && { code }) });
  return (await keyed(ask(`v1/ids?${query}`, { method: 'POST', key }))).ids;
}

/** Dense numbers of a kind that the service counts. */
export async function takeNumbers(count, key, code) {
  return (await keyed(ask(`v1/numbers/${code}?count=${count}`, { method: 'POST', key }))).numbers;
}

/** One number without gaps. */
export async function takeBusinessNumber(key, series) {
  return [(await keyed(ask('v1/business-numbers', { method: 'POST', body: { series }, key }))).number];
}

async function keyed(answer) {
  try {
    return await answer;
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    throw new ServiceProblem(401, { detail: 'This service requires an API key for this. Enter it under Workers.' });
  }
}
