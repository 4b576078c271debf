import { ask, ServiceProblem } from './service.js';

/**
 * New IDs of the service, as texts.
 * @param {string} key an API key, or nothing: some services want one
 * @throws {ServiceProblem}
 */
export async function takeIds(count, key) {
  try {
    return (await ask(`v1/ids?count=${count}`, { method: 'POST', key })).ids;
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    throw new ServiceProblem(401, { detail: 'This service wants an API key for that: type it under Workers.' });
  }
}
