import { mistakesBy, type MistakesIn, type Schema } from './json-schema.js';
import { openService, type OpenService } from './open-service.js';

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Operation {
  readonly summary?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const KEY = 'key-of-the-api-tests';

/** A request for each operation that succeeds. */
const REQUESTS: Readonly<Record<string, { readonly path?: string; readonly body?: object; readonly status?: number }>> =
  {
    'GET /health': {},
    'GET /health/live': {},
    'GET /health/ready': {},
    'GET /metrics': {},
    'GET /v1/ids/{id}': { path: '/v1/ids/30094321512251394' },
    'GET /v1/presets': {},
    'GET /v1/status': {},
    'GET /v1/workers': {},
    'POST /v1/business-numbers': { body: { series: 'invoice' }, status: 201 },
    'POST /v1/ids': { path: '/v1/ids?count=3', status: 201 },
    'POST /v1/ids/stream': { path: '/v1/ids/stream?count=1', status: 201 },
    'POST /v1/layouts/advice': { body: { processes: 5, idsPerSecond: 100, years: 20 } },
    'POST /v1/layouts/plan': { body: { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 } },
    'POST /v1/numbers/{code}': { path: '/v1/numbers/order?count=2', status: 201 },
    'POST /v1/sharded-ids': { body: { app: 1, gatePass: 'x' }, status: 201 },
  };

describe('The OpenAPI description', () => {
  let service: OpenService;
  let api: Api;
  let operations: readonly (readonly [string, Operation])[];
  let mistakes: MistakesIn;

  beforeAll(async () => {
    service = await openService({ API_KEYS: KEY, API_KEYS_FOR: 'workers' });
    api = (await (await fetch(`${service.url}/docs-json`)).json()) as Api;
    mistakes = mistakesBy(api.components.schemas);
    operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );
  });

  afterAll(() => service.close());

  /** An example that is made of those of a schema's parts; undefined where a part shows none. */
  const exampleOf = (schema: Schema): unknown => {
    const { $ref, allOf, items, properties } = schema;
    const shown = [schema.example, schema.default, schema.enum?.[0]].find((each) => each !== undefined);
    if (shown !== undefined) return shown;
    if ($ref !== undefined) return exampleOf(api.components.schemas[$ref.split('/').at(-1)!]!);
    if (allOf !== undefined) return exampleOf(allOf[0]!);
    if (items !== undefined) return [exampleOf(items)];
    if (properties === undefined) return undefined;
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, exampleOf(each)]));
  };

  /** Every example of a media type. */
  const examplesOf = ({ schema, example, examples }: Media): unknown[] => {
    if (example !== undefined) return [example];
    return examples === undefined ? [exampleOf(schema)] : Object.values(examples).map(({ value }) => value);
  };

  it('has every operation, each with a summary', () => {
    expect(operations.map(([name]) => name).sort()).toEqual(Object.keys(REQUESTS).sort());
    for (const [, { summary = '' }] of operations) expect(summary).not.toBe('');
  });

  it('shows an example of every parameter, body and answer, each as its schema says', () => {
    const wrong: string[] = [];
    const check = (what: string, example: unknown, schema: Schema): void => {
      const found = example === undefined ? ['has no example'] : mistakes(example, schema);
      wrong.push(...found.map((each) => `${what} ${each}`));
    };
    let examples = 0;
    for (const [name, { parameters = [], requestBody, responses }] of operations) {
      for (const parameter of parameters) {
        check(`${name} ${parameter.name}`, parameter.example ?? exampleOf(parameter.schema), parameter.schema);
      }
      for (const [part, body] of Object.entries({ body: requestBody, ...responses })) {
        const media = Object.entries(body?.content ?? {});
        if (part !== 'body' && media.length === 0) wrong.push(`${name} ${part} has no content`);
        for (const [type, each] of media) {
          for (const example of examplesOf(each)) {
            examples++;
            check(`${name} ${part} ${type}`, example, each.schema);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(examples).toBeGreaterThan(60);
  });

  it('shows of an ID what the service says of it', async () => {
    const shown = exampleOf({ $ref: '#/components/schemas/DecodedId' }) as { id: string };
    const answer = (await (await fetch(`${service.url}/v1/ids/${shown.id}`)).json()) as { fields: unknown[] };
    expect(shown).toMatchObject({ ...answer, fields: answer.fields.slice(0, 1) });
  });

  it('would not do for another answer', () => {
    const schema = { $ref: '#/components/schemas/ShardedId' };
    const issued = exampleOf(schema) as object;
    expect(mistakes(issued, schema)).toEqual([]);
    expect(mistakes({ ...issued, id: 1, more: true }, schema)).toEqual([
      expect.stringContaining('"additionalProperty":"more"'),
      expect.stringContaining('/id must be string'),
    ]);
  });

  it.each(Object.keys(REQUESTS))('says what is answered: %s', async (name) => {
    const [method, pattern] = name.split(' ');
    const { path = pattern!, body, status = 200 } = REQUESTS[name]!;
    const answer = await fetch(service.url + path, {
      method: method!,
      headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.status).toBe(status);
    const content = operations.find(([each]) => each === name)![1].responses[status]!.content!;
    const [type, media] = Object.entries(content)[0]!;
    expect(Object.keys(content)).toHaveLength(1);
    expect(answer.headers.get('content-type')).toContain(type);
    const text = await answer.text();
    expect(mistakes(type.includes('json') ? JSON.parse(text) : text, media.schema)).toEqual([]);
  });

  it('shows every error as the problem that it is', () => {
    let problems = 0;
    for (const [name, { responses, requestBody }] of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (Number(status) < 400 || name.startsWith('GET /health')) continue;
        const { 'application/problem+json': media, ...others } = content;
        expect({ name, status, others }).toEqual({ name, status, others: {} });
        expect(media!.example).toMatchObject({
          status: Number(status),
          errorCode: expect.stringMatching(/^[A-Z_]+$/) as string,
        });
        problems++;
      }
      const documented = Object.keys(responses);
      if (name.startsWith('POST /v1/') || name.includes('{')) expect(documented).toContain('400');
      if (requestBody !== undefined) expect(documented).toEqual(expect.arrayContaining(['413', '415']));
      if (name.includes(' /v1/')) expect(documented).toEqual(expect.arrayContaining(['429', '500']));
    }
    expect(problems).toBeGreaterThan(40);
  });

  it('says where a key goes, wherever one can be asked for', () => {
    for (const [name, { responses, security = [] }] of operations) {
      if (!('401' in responses)) continue;
      expect({ name, schemes: security.flatMap(Object.keys).sort() }).toEqual({ name, schemes: ['bearer', 'key'] });
    }
  });

  it('answers its own examples of bodies', async () => {
    let answered = 0;
    for (const [path, { post }] of Object.entries(api.paths)) {
      const media = post?.requestBody?.content['application/json'];
      for (const example of media === undefined ? [] : examplesOf(media)) {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(example) });
        expect([path, answer.ok]).toEqual([path, true]);
        answered++;
      }
    }
    expect(answered).toBe(4);
  });

  it('has every ID as a string', () => {
    expect(api.components.schemas['DecodedId']!.properties!['id']).toMatchObject({ type: 'string', format: 'int64' });
  });
});
