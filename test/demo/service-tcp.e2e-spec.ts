import { connect } from 'node:net';
import { once } from 'node:events';
import { ClientProxyFactory, Transport, type ClientProxy } from '@nestjs/microservices';
import { IdService } from '@raindrop/nestjs';
import { firstValueFrom } from 'rxjs';
import { freePort } from '../servers/free-port.js';
import { openDemo, type OpenDemo } from './open-demo.js';
import { problemLike } from './problem-like.js';

const KEY = 'correct-horse-battery';

describe('The TCP transport', () => {
  let demo: OpenDemo;
  let client: ClientProxy;
  let port: number;

  const start = async (environment: Record<string, string> = {}): Promise<void> => {
    port = await freePort();
    demo = await openDemo({ TCP_PORT: String(port), ...environment });
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  };

  afterEach(async () => {
    await client.close();
    await demo.close();
  });

  const send = (pattern: string, data: unknown): Promise<unknown> => firstValueFrom(client.send(pattern, data));
  const refusal = (data: unknown): Promise<unknown> =>
    send('ids.next', data).then(
      (answer) => Promise.reject(new Error(`was answered: ${JSON.stringify(answer)}`)),
      (error: unknown) => error,
    );

  it('issues IDs beside HTTP, and names the layout', async () => {
    await start();
    const { ids } = (await send('ids.next', { count: 1_000, code: 'tcp' })) as { ids: string[] };
    const http = await fetch(`${demo.url}/v1/ids?count=1000&code=tcp`, { method: 'POST' });
    const more = ((await http.json()) as { ids: string[] }).ids;
    expect(new Set([...ids, ...more]).size).toBe(2_000);
    expect((await send('ids.next', {})) as object).toEqual({ ids: [expect.stringMatching(/^\d{17,19}$/)] });
    expect(await send('ids.layout', {})).toBe(demo.app.get(IdService).layout.fingerprint);
  });

  it.each([
    [{ count: 0 }, 'count must be an integer from 1 to 10000'],
    [{ count: 10_001 }, 'count must be an integer from 1 to 10000'],
    [{ count: '5' }, 'count must be an integer from 1 to 10000'],
    [{ code: '' }, 'code must be a text of 1 to 128 characters'],
    [{ cuont: 5 }, '"cuont" is not known here; legal: count, code, apiKey'],
  ])('refuses %j with the same problem as HTTP', async (data, detail) => {
    await start();
    expect(await refusal(data)).toEqual(problemLike(400, 'INVALID_INPUT', detail));
  });

  it('asks for a key where HTTP does', async () => {
    await start({ API_KEYS: KEY, API_KEYS_FOR: 'all' });
    const refused = problemLike(401, 'API_KEY_REQUIRED', 'An API key is required');
    expect(await refusal({ count: 1 })).toEqual(refused);
    expect(await refusal({ count: 1, apiKey: `${KEY}x` })).toEqual(refused);
    expect(await send('ids.next', { count: 1, apiKey: KEY })).toEqual({ ids: [expect.any(String)] });
  });

  it.each([
    ['rubbish', 'GET / HTTP/1.1\r\n\r\n'],
    ['a length that never ends', '9'.repeat(100_000)],
    ['a message that is too long', `200000#${'x'.repeat(100_000)}`],
    ['broken JSON', '5#{{{{{'],
  ])('outlives %s', async (_, bytes) => {
    await start();
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.end(bytes);
    socket.resume();
    await once(socket, 'close');
    expect(await send('ids.next', { count: 1 })).toEqual({ ids: [expect.any(String)] });
  });
});
