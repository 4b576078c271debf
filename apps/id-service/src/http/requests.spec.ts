import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { clientErrors } from './requests.js';

/** What a server answers to these bytes, after which nothing comes; it waits for so long. */
async function answerTo(
  bytes: string,
  patienceMs: number,
): Promise<{ head: string; problem: Record<string, unknown> }> {
  const server = createServer({
    requestTimeout: patienceMs,
    headersTimeout: patienceMs,
    connectionsCheckingInterval: 20,
  });
  server.on('clientError', clientErrors('https://docs.example/errors.md'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk as Buffer);
  server.close();
  const [head, body] = answer.split('\r\n\r\n') as [string, string];
  expect(head).toContain(`content-length: ${body.length}`);
  return { head, problem: JSON.parse(body) as Record<string, unknown> };
}

describe('clientErrors', () => {
  it.each([
    ['a request that does not arrive', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-le', 408, 'REQUEST_TIMEOUT'],
    ['a body that does not', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{', 408, 'REQUEST_TIMEOUT'],
    ['long fields', `GET / HTTP/1.1\r\nx: ${'y'.repeat(17_000)}`, 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
    ['rubbish', '\u0016\u0003\u0001', 400, 'BAD_REQUEST'],
  ])('answers %s with a problem', async (_, bytes, status, errorCode) => {
    // What is wrong at once is wrong however late it is read.
    const { head, problem } = await answerTo(bytes, status === 408 ? 100 : 60_000);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} \\w`));
    expect(head).toContain('content-type: application/problem+json');
    expect(head).toContain('connection: close');
    const instance = expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/) as string;
    expect(problem).toMatchObject({ type: 'about:blank', status, errorCode, retryable: false, instance });
  });

  it('leaves a connection alone that is gone', () => {
    const socket = connect({ port: 9, host: '127.0.0.1' }).on('error', () => undefined);
    clientErrors(undefined)(Object.assign(new Error('reset'), { code: 'ECONNRESET' }), socket);
    expect(socket.destroyed).toBe(true);
  });
});
