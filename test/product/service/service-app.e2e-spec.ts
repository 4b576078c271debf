import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { codecs, compareIds, type CodecName } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { Order } from '../../../apps/id-service/src/database/order.entity.js';
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
      ['?code=', 'code must be a text of 1 to 128 characters'],
      [`?code=${'x'.repeat(129)}`, 'code must be a text of 1 to 128 characters'],
      ['?code=a&code=b', '"code" is given more than once'],
      ['?format=roman', 'format must be one of decimal, '],
      ['?format=constructor', 'format must be one of decimal, '],
      ['?format=', 'format must be one of decimal, '],
      ['?cuont=5', '"cuont" is not known here; legal: count, code, format'],
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
          ...{ name, role, bits, shift },
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

  describe('orders', () => {
    const items = [
      { sku: 'tea-250g', quantity: 2 },
      { sku: 'mug', quantity: 1 },
    ];

    it('are saved with generated keys and read back', async () => {
      const created = await ask('POST', '/v1/orders', { customer: 'Ada 李 🙂', items });
      expect(created.status).toBe(201);
      const id = created.json['id'] as string;
      expect(created.json).toEqual({
        id: expect.stringMatching(/^\d{17,19}$/) as string,
        createdAt: app.get(IdService).parse(id).time.toISOString(),
        customer: 'Ada 李 🙂',
        items: items.map((item) => ({ ...item, id: expect.stringMatching(/^\d{17,19}$/) as string })),
      });
      const ids = [id, ...(created.json['items'] as { id: string }[]).map((item) => item.id)];
      expect(new Set(ids).size).toBe(3);

      const read = await ask('GET', `/v1/orders/${id}`);
      expect(read.status).toBe(200);
      expect(read.json).toEqual(created.json);
    });

    it('are saved in parallel without mixing their items', async () => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          ask('POST', '/v1/orders', { customer: `c${index}`, items: [{ sku: `s${index}`, quantity: index + 1 }] }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      for (const { json } of answers) {
        expect((await ask('GET', `/v1/orders/${json['id'] as string}`)).json).toEqual(json);
      }
    });

    const customer = 'customer must be a text of 1 to 100 characters';
    const list = 'items must be a list of 1 to 100 objects';
    it.each<[string, unknown, string]>([
      ['no customer', { items }, customer],
      ['an empty customer', { customer: '', items }, customer],
      ['a long customer', { customer: 'x'.repeat(101), items }, customer],
      ['a customer with NUL', { customer: 'a\u0000b', items }, customer],
      ['a number for a customer', { customer: 7, items }, customer],
      ['a list for a customer', { customer: ['Ada'], items }, customer],
      ['no items', { customer: 'Ada' }, list],
      ['an empty list', { customer: 'Ada', items: [] }, list],
      ['too many items', { customer: 'Ada', items: Array.from({ length: 101 }, () => items[0]) }, list],
      ['an object for a list', { customer: 'Ada', items: { 0: items[0] } }, list],
      ['null for an item', { customer: 'Ada', items: [null] }, list],
      ['a text for an item', { customer: 'Ada', items: ['tea'] }, list],
      ['a list for an item', { customer: 'Ada', items: [[]] }, list],
      ['an item without a sku', { customer: 'Ada', items: [{ quantity: 1 }] }, 'items[0].sku must be'],
      ['quantity 0', { customer: 'Ada', items: [items[0], { sku: 'a', quantity: 0 }] }, 'items[1].quantity must be'],
      ['a text for a quantity', { customer: 'Ada', items: [{ sku: 'a', quantity: '1' }] }, 'items[0].quantity must be'],
      ['an id of its own', { id: '1', customer: 'Ada', items }, '"id" is not known here; legal: customer, items'],
      ['an item id', { customer: 'Ada', items: [{ ...items[0], id: '1' }] }, 'items[0]."id" is not known here'],
      ['null', null, customer],
      ['a list', [], customer],
      ['a text', '"Ada"', customer],
    ])('refuse %s and say what is legal', async (_, body, message) => {
      const { status, json } = await ask('POST', '/v1/orders', body);
      expect(status).toBe(400);
      expect(json).toEqual(problemLike(400, 'INVALID_INPUT', message));
    });

    it.each([
      ['broken JSON', '{"customer":', 'application/json', 400],
      ['a polluting key', '{"__proto__":{"x":1},"customer":"a","items":[]}', 'application/json', 400],
      ['another type', 'customer=Ada', 'application/x-www-form-urlencoded', 415],
      ['XML', '<order/>', 'application/xml', 415],
      ['more than 256 kB', JSON.stringify({ customer: 'x'.repeat(300_000) }), 'application/json', 413],
    ])('refuse %s', async (_, body, type, expected) => {
      const { status, headers, json } = await ask('POST', '/v1/orders', body, type);
      expect(status).toBe(expected);
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(json).toMatchObject({ status: expected, errorCode: expect.stringMatching(/^[A-Z_]+$/) as string });
    });

    it('are not found under an ID that nobody issued', async () => {
      const { status, json } = await ask('GET', '/v1/orders/12345');
      expect(status).toBe(404);
      expect(json).toEqual(problemLike(404, 'ORDER_NOT_FOUND', 'There is no order 12345.'));
    });

    it.each(['abc', '1e3', '12345678901234567890', "1'%20OR%201=1"])('are not looked for under %s', async (id) => {
      const { status, json } = await ask('GET', `/v1/orders/${id}`);
      expect(status).toBe(400);
      expect(json).toEqual(problemLike(400, 'INVALID_ID', 'id must be 1 to 19 characters of 0-9, '));
    });

    describe('page by page', () => {
      type Page = { orders: { id: string }[]; next: string | null };
      const page = async (query = ''): Promise<Page> => {
        const { status, json } = await ask('GET', `/v1/orders${query}`);
        expect(status).toBe(200);
        return json as unknown as Page;
      };
      const order = async (): Promise<string> =>
        (await ask('POST', '/v1/orders', { customer: 'Ada', items })).json['id'] as string;

      it('come complete, the newest first', async () => {
        const ids = [await order(), await order()].reverse();
        const { orders, next } = await page('?limit=2');
        expect(orders.map(({ id }) => id)).toEqual(ids);
        expect(next).toBe(ids[1]);
        for (const each of orders) expect(each).toEqual((await ask('GET', `/v1/orders/${each.id}`)).json);
      });

      it('come each exactly once, whatever is saved meanwhile', async () => {
        for (let i = 0; i < 23; i++) await order();
        const all = (await app.get(DataSource).getRepository(Order).find()).map(({ id }) => id);
        const read: string[] = [];
        for (let after = ''; ; await order()) {
          const { orders, next } = await page(after);
          read.push(...orders.map(({ id }) => id));
          if (next === null) break;
          expect(orders).toHaveLength(20);
          after = `?after=${next}`;
        }
        expect(read).toEqual(all.sort(compareIds).reverse());
      });

      it('end with a next of null, on a full page too', async () => {
        const { orders } = await page('?limit=100');
        const [last, before] = orders.reverse();
        expect(await page(`?after=${before!.id}&limit=1`)).toEqual({ orders: [last], next: null });
        expect(await page(`?after=${last!.id}`)).toEqual({ orders: [], next: null });
        expect(await page('?after=0')).toEqual({ orders: [], next: null });
      });

      it('come of a range of time', async () => {
        const orders = app.get(DataSource).getRepository(Order);
        const { layout } = app.get(IdService);
        const idAt = (time: string): string => layout.idFloor(new Date(time)).toString();
        const ids = ['2026-01-04T00:00:02Z', '2026-01-04T00:00:01Z', '2026-01-04T00:00:00Z'].map(idAt);
        await orders.save(ids.map((id) => ({ id, customer: 'Ada' })));
        const of = async (query: string): Promise<string[]> => (await page(query)).orders.map(({ id }) => id);
        expect(await of('?to=2026-01-05')).toEqual(ids);
        expect(await of('?from=2026-01-04T00:00:01Z&to=2026-01-04T00:00:01Z')).toEqual([ids[1]]);
        expect(await of(`?to=2026-01-05&after=${ids[0]}`)).toEqual(ids.slice(1));
        expect(await of(`?from=2026-01-04T01:00:01%2B01:00&to=2026-01-05&after=${ids[0]}`)).toEqual([ids[1]]);
        expect(await of('?from=2026-01-05&to=2026-01-04')).toEqual([]);
        // UTC, whatever the time zone of this process is.
        expect(await of('?from=2026-01-04T00:00:01&to=2026-01-04T00:00:01.999')).toEqual([ids[1]]);
        expect(await of('?from=1970-01-01&to=2026-01-04')).toEqual([ids[2]]);
        expect(await of(`?from=2026-01-04&to=9999-12-31T23:59:59Z&after=${idAt('2026-01-05')}`)).toEqual(ids);
        expect(await of('?from=9999-12-31')).toEqual([]);
        expect(await of('?to=0001-01-01')).toEqual([]);
        await orders.delete(ids);
      });

      it('keep their order where 18 digits become 19', async () => {
        const orders = app.get(DataSource).getRepository(Order);
        const ids = ['1000000000000000001', '1000000000000000000', '999999999999999999'];
        await orders.save(ids.map((id) => ({ id, customer: 'Ada' })));
        const { next } = await page('?limit=1&after=1000000000000000002');
        expect(next).toBe(ids[0]);
        expect((await page(`?limit=2&after=${next}`)).orders.map(({ id }) => id)).toEqual(ids.slice(1));
        await orders.delete(ids);
      });

      it('are found through the key alone, without an offset', async () => {
        const dataSource = app.get(DataSource);
        const log = jest.spyOn(dataSource.logger, 'logQuery');
        await page('?after=30077675337940996&limit=3');
        const [sql, parameters] = log.mock.calls[0]!;
        log.mockRestore();
        expect(sql).not.toMatch(/offset/i);
        const plan = await dataSource.query<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${sql}`, parameters);
        expect(plan.map(({ detail }) => detail)).toEqual([
          expect.stringMatching(/^SEARCH .* USING INDEX sqlite_autoindex_demo_order_1 \(id<\?\)$/),
        ]);
      });

      const after = 'after must be 1 to 19 characters of 0-9, none of them a leading 0';
      const limit = 'limit must be an integer from 1 to 100';
      it.each([
        ['?after=', after],
        ['?after=abc', after],
        ['?after=-1', after],
        ['?after=01', after],
        ['?after=9223372036854775808', after],
        ['?after=1&after=2', '"after" is given more than once'],
        [`?after=${'1'.repeat(5_000)}`, after],
        ["?after=1'%20OR%201=1", after],
        ['?limit=0', limit],
        ['?limit=101', limit],
        ['?limit=1e1', limit],
        ['?limit=', limit],
        ['?befor=1', '"befor" is not known here; legal: after, from, to, limit'],
        ['?from=2026-W10', 'from must be an ISO 8601 date or time'],
        ['?to=20261121', 'to must be an ISO 8601 date or time'],
        ['?from=', 'from must be an ISO 8601 date or time'],
        ['?from=2026-01-01&from=2026-01-02', '"from" is given more than once'],
        ['?to=2026-01-04T01:00:01+01:00', 'to must be an ISO 8601 date or time'],
        ['?from=yesterday', 'from must be an ISO 8601 date or time'],
        ['?to=2026-02-30', 'to must be an ISO 8601 date or time'],
      ])('are refused for %s with what is legal', async (query, message) => {
        const { status, json } = await ask('GET', `/v1/orders${query}`);
        expect(status).toBe(400);
        expect(json).toEqual(problemLike(400, 'INVALID_INPUT', message));
      });
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
