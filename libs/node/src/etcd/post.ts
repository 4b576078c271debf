import { request as requestHttp, type Agent } from 'node:http';
import { request as requestHttps } from 'node:https';
import { hostTimers } from '../system/host-timers.js';

/** The parts of a request to a JSON gateway. */
export interface Posted {
  readonly url: URL;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** A page of a table has 100 KB. */
export const MOST_BYTES = 4 * 1_048_576;

/** Sends one request and reads its answer, within a time limit and no redirect. Rejects with what Node says. */
export function post({ url, agent, headers, body, timeoutMs }: Posted): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const length = Buffer.byteLength(body);
    const type = { 'content-type': 'application/json', 'content-length': String(length) };
    const request = send(url, { method: 'POST', agent, headers: { ...type, ...headers } });
    const giveUp = (): void => void request.destroy(new Error(`no answer within ${Math.round(timeoutMs)} ms`));
    const timer = hostTimers.setTimeout(giveUp, timeoutMs).unref();
    request.on('error', reject);
    request.on('close', () => hostTimers.clearTimeout(timer));
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size > MOST_BYTES) request.destroy(new Error(`an answer of more than ${MOST_BYTES} bytes`));
        else parts.push(part);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      response.on('error', reject);
      response.on('close', () => reject(new Error('the answer broke off')));
    });
    request.end(body);
  });
}
