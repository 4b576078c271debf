import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { ApiKeys } from '../http/api-keys.js';
import { ProblemException } from '../problems/problem.js';
import { clientAddress, networkOf } from '../http/client-address.js';
import { COUNT_RANGES, readCount, type CountRange } from '../http/counts.js';

const WINDOW_MS = 60_000;

/** How many IDs take as long as answering a request. */
const IDS_FOR_A_REQUEST = 1_000;

/** More than that many addresses are not counted apart: the minute begins anew. */
const MOST_ADDRESSES = 100_000;

/**
 * At most so many requests a minute from one address (IPv6: from one network of 64 bits), each
 * begun 1,000 IDs count as one. The count begins anew with each minute. @fastify/rate-limit counts every request as one
 * and none that has no route; rate-limiter-flexible keeps a timer for each address, however many there are.
 */
export class RequestRate {
  private readonly counts = new Map<string, number>();
  private endsAt = 0;

  constructor(readonly perMinute: number) {}

  /**
   * @param ids how many IDs are asked for
   * @throws ProblemException 429 when there were too many, 400 for more IDs than a minute has
   */
  count(address: string, ids = 1): void {
    const requests = Math.max(1, Math.ceil(ids / IDS_FOR_A_REQUEST));
    if (requests > this.perMinute) throw this.tooLarge();
    const now = performance.now();
    if (now >= this.endsAt || this.counts.size >= MOST_ADDRESSES) {
      this.counts.clear();
      this.endsAt = now + WINDOW_MS;
    }
    const network = networkOf(address);
    const count = (this.counts.get(network) ?? 0) + requests;
    this.counts.set(network, count);
    if (count > this.perMinute) throw this.tooMany(Math.ceil((this.endsAt - now) / 1_000));
  }

  private tooMany(retryAfterSeconds: number): ProblemException {
    const what = `${this.perMinute} requests a minute`;
    const detail = `More than ${what}; every 1000 IDs or part thereof count as one. Try again in ${retryAfterSeconds} s.`;
    return new ProblemException(429, { errorCode: 'RATE_LIMITED', detail, retryable: true, retryAfterSeconds });
  }

  private tooLarge(): ProblemException {
    const most = this.perMinute * IDS_FOR_A_REQUEST;
    const detail =
      `count must be at most ${most}: an address has ${this.perMinute} requests a minute, and every 1000 IDs or part ` +
      `thereof count as one`;
    return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail });
  }
}

/** The page's request of every second, which is nearly free: no database, no ID, the same few lines. */
const FREE = '/v1/status';

/**
 * Bounds the requests of an address to everything under /v1 and to what is not there. Monitoring and the page's files
 * are never limited. The limit goes by the route that was found, not by the URL as it was written, which has many
 * spellings. Without a limit there is no hook.
 *
 * Hooks run in the order in which they were added: this one stands before that for API keys, so that wrong keys count.
 */
export function limitRates(app: NestFastifyApplication, perMinute: number): void {
  if (perMinute === 0) return;
  const rate = new RequestRate(perMinute);
  const keys = app.get(ApiKeys);
  /** With a legal key it is free: the answer is read from the table twice a second at most. A wrong key is counted. */
  const isShownWorkers = (url: string, { headers }: FastifyRequest): boolean =>
    url === '/v1/workers' && keys.mayShow(headers);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && (!url.startsWith('/v1/') || url === FREE || isShownWorkers(url, request))) return done();
    try {
      rate.count(clientAddress(request), idsIn(request));
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

/** How many IDs a request asks for. A count that is not legal counts as one: the route refuses it. */
function idsIn({ routeOptions: { url = '' }, query }: FastifyRequest): number {
  const range = (COUNT_RANGES as Readonly<Record<string, CountRange | undefined>>)[url];
  return range === undefined ? 1 : (readCount((query as { readonly count?: unknown }).count, range) ?? 1);
}
