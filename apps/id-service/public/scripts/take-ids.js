import { ask, ServiceProblem } from './service.js';

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
    throw new ServiceProblem(401, { detail: 'This service wants an API key for that: type it under Workers.' });
  }
}
