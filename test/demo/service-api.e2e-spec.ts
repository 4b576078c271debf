import { openDemo, type OpenDemo } from './open-demo.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly format?: string;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: object;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

describe('The OpenAPI description', () => {
  let demo: OpenDemo;
  let api: Api;
  let operations: readonly (readonly [string, Operation])[];

  beforeAll(async () => {
    demo = await openDemo();
    api = (await (await fetch(`${demo.url}/docs-json`)).json()) as Api;
    operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );
  });

  afterAll(() => demo.close());

  /** Whether an example can be made of it: every leaf shows a value. */
  const shows = (schema: Schema): boolean => {
    if (schema.example !== undefined || schema.default !== undefined || schema.enum !== undefined) return true;
    if (schema.$ref !== undefined) return shows(api.components.schemas[schema.$ref.split('/').at(-1)!]!);
    if (schema.allOf !== undefined) return schema.allOf.every(shows);
    if (schema.items !== undefined) return shows(schema.items);
    return schema.properties !== undefined && Object.values(schema.properties).every(shows);
  };

  const isShown = (media: Media): boolean =>
    media.example !== undefined || media.examples !== undefined || shows(media.schema);

  it('has every operation, each with a summary', () => {
    expect(operations.map(([name]) => name).sort()).toEqual([
      'GET /health',
      'GET /health/live',
      'GET /health/ready',
      'GET /metrics',
      'GET /v1/ids/{id}',
      'GET /v1/orders',
      'GET /v1/orders/{id}',
      'GET /v1/presets',
      'GET /v1/status',
      'GET /v1/workers',
      'POST /v1/business-numbers',
      'POST /v1/ids',
      'POST /v1/ids/stream',
      'POST /v1/layouts/plan',
      'POST /v1/numbers/{code}',
      'POST /v1/orders',
      'POST /v1/sharded-ids',
    ]);
    for (const [, { summary = '' }] of operations) expect(summary).not.toBe('');
  });

  it('shows an example of every parameter, body and answer', () => {
    const missing: string[] = [];
    for (const [name, { parameters = [], requestBody, responses }] of operations) {
      for (const parameter of parameters) {
        if (parameter.example === undefined && !shows(parameter.schema)) missing.push(`${name} ${parameter.name}`);
      }
      const bodies = Object.entries({ body: requestBody, ...responses });
      for (const [part, body] of bodies) {
        const media = Object.values(body?.content ?? {});
        if (part !== 'body' && media.length === 0) missing.push(`${name} ${part}`);
        if (!media.every(isShown)) missing.push(`${name} ${part}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('shows every error as the problem that it is', () => {
    let problems = 0;
    for (const [name, { responses }] of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (Number(status) < 400 || name.startsWith('GET /health')) continue;
        const { 'application/problem+json': media, ...others } = content;
        expect({ name, status, others }).toEqual({ name, status, others: {} });
        expect(media!.example).toMatchObject({
          status: Number(status),
          title: expect.any(String) as string,
          detail: expect.any(String) as string,
          errorCode: expect.stringMatching(/^[A-Z_]+$/) as string,
          retryable: expect.any(Boolean) as boolean,
        });
        problems++;
      }
      if (name.startsWith('POST /v1/') || name.includes('{')) expect(Object.keys(responses)).toContain('400');
    }
    expect(problems).toBeGreaterThan(30);
  });

  it('answers its own examples of bodies', async () => {
    for (const [path, { post }] of Object.entries(api.paths)) {
      const examples = (post?.requestBody?.content['application/json']?.examples ?? {}) as Record<
        string,
        { value: object }
      >;
      for (const { value } of Object.values(examples)) {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(demo.url + path, { method: 'POST', headers, body: JSON.stringify(value) });
        expect(answer.ok).toBe(true);
      }
    }
  });

  it('has every ID as a string', () => {
    for (const name of ['DecodedId', 'OrderView', 'OrderItemView']) {
      expect(api.components.schemas[name]!.properties!['id']).toMatchObject({ type: 'string', format: 'int64' });
    }
  });
});
