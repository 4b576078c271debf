import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { codecs, type CodecName } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { expectSince } from '../../support/expect-since.js';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

type Method = 'GET' | 'POST';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

describe('The service', () => {
  let service: OpenService;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    service = await openService();
    ({ app } = service);
  });

  afterAll(() => service.close());

  const ask = async (method: Method, url: string, body?: unknown, type = 'application/json'): Promise<Answer> => {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await app.inject({
      method,
      url,
      ...(body === undefined ? {} : { payload, headers: { 'content-type': type } }),
    });
    const isJson = /^application\/(problem\+)?json/.test(String(answer.headers['content-type']));
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      json: isJson ? answer.json<Record<string, unknown>>() : {},
    };
  };

  const issue = async (query: string): Promise<string[]> => {
    const { status, json } = await ask('POST', `/v1/ids${query}`);
    expect(status).toBe(201);
    return json['ids'] as string[];
  };

  describe('POST /v1/ids', () => {
    it('issues one ID as a string when nothing is asked for', async () => {
      const ids = await issue('');
      expect(ids).toEqual([expect.stringMatching(/^\d{17,19}$/)]);
    });

    it('issues a batch in ascending order without a duplicate', async () => {
      const ids = await issue('?count=10000');
      expect(new Set(ids).size).toBe(10_000);
      expect(ids.map(BigInt)).toEqual(ids.map(BigInt).sort((a, b) => (a < b ? -1 : 1)));
    });

    it.each(Object.keys(codecs) as CodecName[])('writes %s, and GET reads it', async (format) => {
      const [text] = await issue(`?count=1&format=${format}`);
      const { status, json } = await ask('GET', `/v1/ids/${encodeURIComponent(text!)}?format=${format}`);
      expect(status).toBe(200);
      expect(json['id']).toBe(codecs[format].decode(text!).toString());
    });

    it('counts every code by itself', async () => {
      const decoded = async (code: string): Promise<unknown> => {
        const [id] = await issue(`?code=${encodeURIComponent(code)}`);
        return (await ask('GET', `/v1/ids/${id}`)).json['sequence'];
      };
      const codes = ['__proto__', 'constructor', 'é🙂', 'x'.repeat(128)];
      for (const code of codes) expect(await decoded(code)).toBe(0);
    });

    const count = 'count must be an integer from 1 to 10000';
    it.each([
      ['?count=0', count],
      ['?count=10001', count],
      ['?count=-1', count],
      ['?count=1.5', count],
      ['?count=1e3', count],
      ['?count=0x10', count],
      ['?count=%205', count],
      ['?count=', count],
      ['?count=many', count],
      ['?count=1&count=2', '"count" is given more than once'],
      ['?count=99999999999999999999', count],
      ['?code=', 'code must be a string of 1 to 128 characters'],
      [`?code=${'x'.repeat(129)}`, 'code must be a string of 1 to 128 characters'],
      ['?code=a&code=b', '"code" is given more than once'],
      ['?format=roman', 'format must be one of decimal, '],
      ['?format=constructor', 'format must be one of decimal, '],
      ['?format=', 'format must be one of decimal, '],
      ['?cuont=5', '"cuont" is unknown; legal: count, code, format'],
      ['?count=0&format=x', '; format must be one of'],
    ])('refuses %s and says what is legal', async (query, message) => {
      const { status, json } = await ask('POST', `/v1/ids${query}`);
      expect(status).toBe(400);
      expect(json).toEqual(problemLike(400, 'INVALID_INPUT', message));
    });
  });

  describe('GET /v1/ids/:id', () => {
    it('says what is in an ID', async () => {
      const before = Date.now();
      const [, second] = await issue('?count=2&code=decode');
      const { status, json } = await ask('GET', `/v1/ids/${second}`);
      expect(status).toBe(200);
      expect(json).toEqual({
        id: second,
        time: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/) as string,
        tick: Math.floor(Date.parse(json['time'] as string) / 1_000) - Date.UTC(2026, 0, 1) / 1_000,
        workerId: app.get(IdService).workerId,
        // Shown without a key, as the workers are: only this host can ask.
        holder: expect.stringMatching(/, pid \d+$/) as string,
        clockBack: 0,
        sequence: expect.any(Number) as number,
        endBits: 0,
        fields: app.get(IdService).layout.fields.map(({ name, role, bits, shift }) => ({
          name,
          role,
          bits,
          shift,
          value: Number((BigInt(second!) >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n)),
        })),
        layout: app.get(IdService).layout.fingerprint,
      });
      expect([5, 6, 7, 8, 9]).toContain(json['workerId']);
      expectSince(before, Date.parse(json['time'] as string));
    });

    it.each(['0', '9223372036854775807'])('reads %s, the edge of the range', async (id) => {
      expect((await ask('GET', `/v1/ids/${id}`)).json['id']).toBe(id);
    });

    it.each([
      ['a word', 'abc'],
      ['a sign', '-1'],
      ['a leading zero', '01'],
      ['a fraction', '1.0'],
      ['2^63', '9223372036854775808'],
      ['5,000 digits', '1'.repeat(5_000)],
      ['NUL', '%00'],
      ['an emoji', '%F0%9F%99%82'],
      ['2^63 and more in base62', 'zzzzzzzzzzz?format=base62'],
      ['decimal digits in another format', '30077043989282816?format=base58'],
    ])('refuses %s with what is legal', async (_, id) => {
      const { status, json } = await ask('GET', `/v1/ids/${id}`);
      expect(status).toBe(400);
      expect(json).toEqual(problemLike(400, 'INVALID_ID', 'Legal: '));
    });

    it('refuses an unknown format', async () => {
      expect((await ask('GET', '/v1/ids/1?format=roman')).json['errorCode']).toBe('INVALID_INPUT');
    });
  });

  describe('bodies', () => {
    const sharded = '/v1/sharded-ids';
    const numbers = '/v1/business-numbers';
    const app = 'app must be an integer from 0 to 255';
    const gatePass = 'gatePass must be a string of 1 to 512 characters';
    it.each<[string, string, unknown, string]>([
      ['no app', sharded, { gatePass: 'x' }, app],
      ['a text for a number', sharded, { app: '1', gatePass: 'x' }, app],
      ['a number out of range', sharded, { app: 256, gatePass: 'x' }, app],
      ['a fraction', sharded, { app: 1.5, gatePass: 'x' }, app],
      ['no text', sharded, { app: 1 }, gatePass],
      ['an empty text', sharded, { app: 1, gatePass: '' }, gatePass],
      ['a long text', sharded, { app: 1, gatePass: 'x'.repeat(513) }, gatePass],
      ['a number for a text', sharded, { app: 1, gatePass: 7 }, gatePass],
      ['a list for a text', sharded, { app: 1, gatePass: ['x'] }, gatePass],
      [
        'a text with NUL',
        numbers,
        { series: 'invoice', tenant: 'a\u0000b' },
        'tenant must be a string of 1 to 64 letters',
      ],
      ['an unknown series', numbers, { series: 'constructor' }, 'series must be one of invoice, credit-note'],
      ['an id of its own', sharded, { id: '1', app: 1, gatePass: 'x' }, '"id" is unknown; legal: app, gatePass'],
      ['null', sharded, null, app],
      ['a list', sharded, [], app],
      ['a text', sharded, '"Ada"', app],
    ])('are refused with what is legal: %s', async (_, path, body, message) => {
      const { status, json } = await ask('POST', path, body);
      expect(status).toBe(400);
      expect(json).toEqual(problemLike(400, 'INVALID_INPUT', message));
    });

    it.each([
      ['broken JSON', '{"series":', 'application/json', 400],
      ['a polluting key', '{"__proto__":{"x":1},"series":"invoice"}', 'application/json', 400],
      ['another type', 'series=invoice', 'application/x-www-form-urlencoded', 415],
      ['XML', '<series/>', 'application/xml', 415],
      ['more than 256 kB', JSON.stringify({ series: 'x'.repeat(300_000) }), 'application/json', 413],
    ])('are refused: %s', async (_, body, type, expected) => {
      const { status, headers, json } = await ask('POST', numbers, body, type);
      expect(status).toBe(expected);
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(json).toMatchObject({ status: expected, errorCode: expect.stringMatching(/^[A-Z_]+$/) as string });
    });
  });

  it('is healthy', async () => {
    const { status, json } = await ask('GET', '/health');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'ok',
      details: { database: { status: 'up' }, raindrop: { status: 'up', state: 'held' } },
    });
  });

  it.each(['/docs', '/docs/'])(
    'serves the page at %s with all its files, and nothing outside their folder',
    async (path) => {
      const page = await ask('GET', path);
      expect(page.headers['content-type']).toContain('text/html');
      const files = [...page.text.matchAll(/(?:href|src)="(\.[^"]+)"/g)].map((match) => match[1]!);
      expect(files).toHaveLength(6);
      for (const file of files) {
        const { status, text } = await ask('GET', new URL(file, `http://host${path}`).pathname);
        expect(status).toBe(200);
        expect(text.length).toBeGreaterThan(50);
      }
      for (const file of ['..%2Fpackage.json', '..%2F..%2Fpackage.json', 'nothing.js']) {
        expect((await ask('GET', `/docs/${file}`)).status).toBe(404);
      }
    },
  );

  it('serves the files of the page where its address has a query', async () => {
    const { status, headers } = await ask('GET', '/docs/?x');
    expect([status, headers['location']]).toEqual([302, '../docs']);
    const { text } = await ask('GET', '/docs?x');
    expect(text).toContain('href="./docs/swagger-ui.css"');
  });

  it('tells browsers to load nothing from elsewhere', async () => {
    const { headers } = await ask('GET', '/docs');
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('answers 404 elsewhere', async () => {
    const { status, json } = await ask('GET', '/v1/nothing');
    expect(status).toBe(404);
    expect(json).toEqual(problemLike(404, 'NOT_FOUND', 'Cannot GET /v1/nothing'));
  });
});
