import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { codecs, IdService, RaindropError, type CodecName } from '@raindrop/nestjs';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { COMMON_PROBLEMS, KEY_PROBLEMS, OPTIONAL_KEY, problemResponse } from '../http/api-problem.js';
import { keyIn } from '../http/api-keys.js';
import { clientAddress } from '../http/client-address.js';
import { COUNT_RANGES, readCount, type CountRange } from '../http/counts.js';
import type { ProblemFilter } from '../problems/problem.filter.js';
import { StrangersNames } from '../http/new-names.js';
import { ProblemException } from '../problems/problem.js';
import { EXAMPLE_IDS } from './example-ids.js';
import { goneSignal } from '../problems/gone-signal.js';
import { IdStreams, type IdsRequest } from './id-streams.js';
import { AnswerBuffers, idsJson, idsJsonSize } from './id-texts.js';
import { IdsUnderWay } from './ids-under-way.js';

const { '/v1/ids': BATCH, '/v1/ids/stream': STREAM } = COUNT_RANGES;
const FORMATS = Object.keys(codecs) as CodecName[];
const LEGAL = {
  count: ({ min, max }: CountRange) => `count must be an integer from ${min} to ${max}`,
  code: 'code must be a string of 1 to 128 characters',
  format: `format must be one of ${FORMATS.join(', ')}`,
};

const JSON_TYPE = 'application/json; charset=utf-8';
const NDJSON = 'application/x-ndjson';

/** A batch that is larger, or not in decimal, is made and written in turns of the event loop. */
const MOST_AT_ONCE = 1_000;

/** How long a request waits for IDs before it is told to come again. */
const TIMEOUT_MS = 4_000;

/**
 * The Fastify plugin that answers `POST /v1/ids` and `POST /v1/ids/stream`. No controller: Nest's way to an empty
 * handler takes a sixth of a bare Fastify request. The hooks and limits of the application hold here as well.
 */
export function idRoutes(
  app: NestFastifyApplication,
  adapter: FastifyAdapter,
  problems: ProblemFilter,
): FastifyPluginCallback {
  const ids = app.get(IdService);
  const [streams, underWay, names] = [app.get(IdStreams), app.get(IdsUnderWay), app.get(StrangersNames)];
  /** One array for all batches: the IDs in it are written out before the next batch is made. */
  const cells = new BigInt64Array(MOST_AT_ONCE);
  const buffers = new AnswerBuffers(idsJsonSize(MOST_AT_ONCE), 256);

  function read(request: FastifyRequest, range: CountRange): IdsRequest {
    const asked = readQuery(request.query as Query, range);
    names.admitCode(asked.code, { key: keyIn(request.headers), address: () => clientAddress(request) });
    return asked;
  }

  /** The usual answer; undefined where it has to wait, or takes long. */
  function atOnce({ count, code, format }: IdsRequest, { raw }: FastifyReply): string | Buffer | undefined {
    if (count > MOST_AT_ONCE || format !== 'decimal') return undefined;
    try {
      if (count === 1) return `{"ids":["${ids.nextString(code)}"]}`;
      return idsJson(ids.fill(cells.subarray(0, count), code), buffers.for(raw));
    } catch (error) {
      if (error instanceof RaindropError) return undefined;
      throw error;
    }
  }

  async function inTurns({ count, code, format }: IdsRequest, { raw }: FastifyReply): Promise<string> {
    const wait = { timeoutMs: TIMEOUT_MS, signal: goneSignal(raw) };
    const batch = await ids.nextIdsAsync(count, code, wait);
    const texts: string[] = [];
    for (const id of batch) {
      if (texts.length > 0 && texts.length % MOST_AT_ONCE === 0) await turn();
      texts.push(codecs[format].encode(id));
    }
    return JSON.stringify({ ids: texts });
  }

  return (server, _options, done) => {
    server.setErrorHandler((error, request, reply) => problems.answer(adapter.mapException(error), request, reply));
    server.post('/v1/ids', (request, reply) => {
      const asked = read(request, BATCH);
      void reply.code(201).header('content-type', JSON_TYPE);
      const answer = atOnce(asked, reply);
      if (answer === undefined) return underWay.during(asked.count, () => inTurns(asked, reply));
      // No promise for the usual answer.
      void reply.send(answer);
      return undefined;
    });
    // Fastify sends the head with the first lines: a stream that fails before them is answered as any other error.
    server.post('/v1/ids/stream', (request, reply) => {
      const stream = streams.open(read(request, STREAM), clientAddress(request), request.raw.socket);
      void reply.code(201).header('content-type', NDJSON).send(stream);
    });
    done();
  };
}

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;
type ApiResponse = Operation['responses'][string];
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

type Query = Readonly<Record<string, string | undefined>>;

/** @throws ProblemException 400 that says what is legal for each parameter that is wrong, and names the first ten unknown ones */
function readQuery(query: Query, range: CountRange): IdsRequest {
  const { count: given, code, format = 'decimal', ...others } = query;
  const unknown = Object.keys(others).slice(0, 10);
  const wrong = unknown.map((name) => `${JSON.stringify(name.slice(0, 48))} is unknown; legal: count, code, format`);
  const count = readCount(given, range);
  if (count === undefined) wrong.push(LEGAL.count(range));
  if (code === '' || (code !== undefined && code.length > 128)) wrong.push(LEGAL.code);
  if (!FORMATS.includes(format as CodecName)) wrong.push(LEGAL.format);
  if (count === undefined || wrong.length > 0) {
    throw new ProblemException(400, { errorCode: 'INVALID_INPUT', detail: wrong.join('; ') });
  }
  return { count, code, format: format as CodecName };
}

/** The operations of both in the API's description, and what they refer to. */
export const idPaths: OpenAPIObject['paths'] = {
  '/v1/ids': {
    post: operation('issueIds', 'Issue IDs', BATCH, {
      description: '',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/NewIds' } } },
    }),
  },
  '/v1/ids/stream': {
    post: operation('streamIds', 'Issue many IDs, as a stream of lines, each a JSON string', STREAM, {
      description: 'As fast as the client reads. A failure ends the stream with a line {"error": problem}.',
      content: { [NDJSON]: { schema: { type: 'string' }, example: EXAMPLE_IDS.map((id) => `"${id}"\n`).join('') } },
    }),
  },
};

export const idSchemas: Record<string, Schema> = {
  NewIds: {
    type: 'object',
    properties: { ids: { type: 'array', items: { type: 'string' }, example: [...EXAMPLE_IDS] } },
    required: ['ids'],
  },
};

function countSchema({ min, max, default: usual }: CountRange): Schema {
  return { type: 'integer', minimum: min, maximum: max, default: usual };
}

function operation(operationId: string, summary: string, range: CountRange, answer: ApiResponse): Operation {
  const inQuery = { in: 'query', required: false } as const;
  return {
    operationId,
    summary,
    tags: ['ids'],
    security: OPTIONAL_KEY,
    parameters: [
      { ...inQuery, name: 'count', schema: countSchema(range) },
      {
        ...inQuery,
        name: 'code',
        description: 'A business kind with a sequence of its own.',
        schema: { type: 'string', minLength: 1, maxLength: 128, example: 'order' },
      },
      {
        ...inQuery,
        name: 'format',
        description: 'How IDs are written.',
        schema: { type: 'string', enum: FORMATS, default: 'decimal' },
      },
    ],
    responses: {
      201: answer,
      400: problemResponse(400, 'INVALID_INPUT', LEGAL.count(range)),
      ...KEY_PROBLEMS,
      ...COMMON_PROBLEMS,
      503: problemResponse(503, 'LEASE_LOST', 'No ID can be issued right now. Try again in a moment.'),
    },
  };
}
