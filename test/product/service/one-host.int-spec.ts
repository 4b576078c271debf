import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { openService, type OpenService } from './open-service.js';

describe('A request that names no host, or two', () => {
  let service: OpenService;

  beforeAll(async () => {
    service = await openService();
  });

  afterAll(() => service.close());

  /** @returns status and problem of the answer to a request that is sent as it stands */
  const send = async (...lines: readonly string[]): Promise<[status: number, problem: Record<string, unknown>]> => {
    const { hostname, port, host } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.end([...lines, 'connection: close', '', ''].join('\r\n').replaceAll('{host}', host));
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    const isJson = head.includes('json');
    return [Number(head.split(' ')[1]), isJson ? (JSON.parse(body) as Record<string, unknown>) : {}];
  };

  it.each([
    [400, 'BAD_REQUEST', ['GET /v1/presets HTTP/1.1']],
    [400, 'BAD_REQUEST', ['GET /v1/presets HTTP/1.1', 'host: {host}', 'host: {host}']],
    [400, 'BAD_REQUEST', ['GET / HTTP/1.1', 'host: {host}', 'Host: elsewhere.example']],
    [400, 'BAD_REQUEST', ['GET http://elsewhere.example/v1/presets HTTP/1.1', 'host: {host}']],
    [417, 'EXPECTATION_FAILED', ['GET /v1/presets HTTP/1.1', 'host: {host}', 'expect: banana']],
  ])('answers %d with a problem document, %s, to %j', async (status, errorCode, lines) => {
    expect(await send(...lines)).toEqual([status, expect.objectContaining({ status, errorCode })]);
  });

  it.each([
    [['GET http://{host}/health/live HTTP/1.1', 'host: {host}']],
    [['GET /health/live HTTP/1.0']],
    [['GET /health/live HTTP/1.1', 'host: {host}', 'expect: 100-continue']],
  ])('answers %j', async (lines) => {
    const [status] = await send(...lines);
    expect(status === 200 || status === 100).toBe(true);
  });
});
