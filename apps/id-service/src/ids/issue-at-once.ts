import type { ServerResponse } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RaindropError, IdService } from '@raindrop/nestjs';
import { StrangersNames } from '../http/new-names.js';
import { AnswerBuffers } from './answer-buffers.js';
import { idsJson, idsJsonSize } from './ids-json.js';

const MOST_IDS = 1_000;

/** One array for all batches: what is in it is written out before the next batch is made. */
const CELLS = new BigInt64Array(MOST_IDS);
const BUFFERS = new AnswerBuffers(idsJsonSize(MOST_IDS), 256);

/**
 * Answers the usual `POST /v1/ids` before Nest's route is asked, which would take as long as the rest of the request: up
 * to 1,000 IDs in decimal that can be issued at once. Everything else, wrong queries too, is left to the controller.
 *
 * The second way to the same answer, for speed alone: two-routes.int-spec.ts compares it with `IdsController.issue`.
 */
export function issueAtOnce(app: NestFastifyApplication): void {
  const ids = app.get(IdService);
  const names = app.get(StrangersNames);
  const isNew = (code: unknown): boolean => typeof code === 'string' && !names.knowsCode(code);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('preHandler', (request, reply, done) => {
    const isForIds = request.method === 'POST' && request.routeOptions.url === '/v1/ids';
    const isUsual = isForIds && !isNew((request.query as Query)['code']);
    const answer = isUsual ? answerTo(request.query as Query, ids, reply.raw) : undefined;
    if (answer === undefined) done();
    else void reply.code(201).header('content-type', 'application/json; charset=utf-8').send(answer);
  });
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** Undefined for the controller's. */
function answerTo(query: Query, ids: IdService, response: ServerResponse): Buffer | string | undefined {
  const { count = '1', code } = query;
  for (const name in query) if (name !== 'count' && name !== 'code') return undefined;
  if (typeof count !== 'string' || !/^[1-9]\d{0,3}$/.test(count) || Array.isArray(code)) return undefined;
  if (Number(count) > MOST_IDS) return undefined;
  try {
    if (count === '1') return `{"ids":["${ids.nextString(code)}"]}`;
    const cells = ids.fill(CELLS.subarray(0, Number(count)), code);
    return idsJson(cells, BUFFERS.for(response));
  } catch (error) {
    if (error instanceof RaindropError) return undefined;
    throw error;
  }
}
