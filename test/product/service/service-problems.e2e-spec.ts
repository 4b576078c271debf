import { once } from 'node:events';
import { connect } from 'node:net';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

const JSON_TYPE = 'application/json';

describe('Every error of the service is a problem', () => {
  let service: OpenService;

  beforeAll(async () => {
    service = await openService();
  });

  afterAll(() => service.close());

  it.each<[string, string, string, string | undefined, number, string]>([
    ['no route', 'GET', '/nothing', undefined, 404, 'NOT_FOUND'],
    ['no route under /v1', 'POST', '/v1/id', undefined, 404, 'NOT_FOUND'],
    ['no file', 'GET', '/scripts/nothing.js', undefined, 404, 'NOT_FOUND'],
    ['an address that is none', 'GET', '/v1/ids/%zz', undefined, 400, 'BAD_REQUEST'],
    ['an ID that is none', 'GET', '/v1/ids/01', undefined, 400, 'INVALID_ID'],
    ['an ID that is too long', 'GET', `/v1/ids/${'1'.repeat(10_000)}`, undefined, 400, 'INVALID_ID'],
    ['a query that is wrong', 'POST', '/v1/ids?count=0', undefined, 400, 'INVALID_INPUT'],
    ['broken JSON', 'POST', '/v1/business-numbers', '{"series":', 400, 'BAD_REQUEST'],
    ['no JSON', 'POST', '/v1/business-numbers', '', 400, 'BAD_REQUEST'],
    ['a polluting key', 'POST', '/v1/business-numbers', '{"__proto__":{"x":1}}', 400, 'BAD_REQUEST'],
    ['a body that is too long', 'POST', '/v1/business-numbers', `"${'x'.repeat(4_100)}"`, 413, 'PAYLOAD_TOO_LARGE'],
  ])('%s', async (_, method, path, body, status, errorCode) => {
    const answer = await fetch(service.url + path, {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': JSON_TYPE } }),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const problem = (await answer.json()) as { instance: string };
    expect(problem).toEqual(problemLike(status, errorCode, ''));
    expect(problem.instance).toMatch(/^urn:uuid:/);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=x',
    'nonsense',
  ])('a body of the type %s', async (type) => {
    const headers = { 'content-type': type };
    const answer = await fetch(`${service.url}/v1/business-numbers`, { method: 'POST', headers, body: 'x' });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toEqual(problemLike(415, 'UNSUPPORTED_MEDIA_TYPE', ''));
  });

  it.each([
    ['DELETE', '/v1/ids', 'POST'],
    ['GET', '/v1/ids/?count=1', 'POST'],
    ['PUT', '/v1/ids/5', 'GET, HEAD'],
    ['PATCH', '/v1/business-numbers', 'POST'],
    ['OPTIONS', '/v1/presets', 'GET, HEAD'],
    ['DELETE', '/v1/ids/stream', 'GET, HEAD, POST'],
    ['POST', '/health/ready', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ])('a method that an address does not know: %s %s', async (method, path, allowed) => {
    const answer = await fetch(service.url + path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allowed);
    const detail = `${method} is not possible here; legal: ${allowed}`;
    expect(await answer.json()).toEqual(problemLike(405, 'METHOD_NOT_ALLOWED', detail));
  });

  it.each([
    ['header fields that are too long', `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['what is no HTTP', 'rubbish\r\n\r\n', 400],
    ['a method that does not exist', 'BREW / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['two lengths', 'POST /v1/ids HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
  ])('%s', async (_, sent, status) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined).write(sent);
    let text = '';
    for await (const chunk of socket) text += String(chunk as Buffer);
    const [head, body] = text.split('\r\n\r\n') as [string, string];
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/\ncontent-type: application\/problem\+json/);
    const errorCode = status === 431 ? 'REQUEST_HEADER_FIELDS_TOO_LARGE' : 'BAD_REQUEST';
    expect(JSON.parse(body)).toEqual(problemLike(status, errorCode, ''));
  });

  it('with a link to the documentation where that describes it', async () => {
    const documented = await openService({ DOCS_URL: 'https://docs.example/errors.md' });
    const typeOf = async (path: string): Promise<unknown> =>
      ((await (await fetch(documented.url + path)).json()) as { type: unknown }).type;
    expect(await typeOf('/v1/ids/x')).toBe('https://docs.example/errors.md#invalid_id');
    expect(await typeOf('/nothing')).toBe('about:blank');
    await documented.close();
  });

  it('the same one never twice', async () => {
    const instances = await Promise.all(
      Array.from({ length: 20 }, async () => {
        return ((await (await fetch(`${service.url}/nothing`)).json()) as { instance: string }).instance;
      }),
    );
    expect(new Set(instances).size).toBe(20);
  });
});
