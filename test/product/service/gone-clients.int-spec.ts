import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { until } from '../../support/until.js';
import { openService, type OpenService } from './open-service.js';

const WITH_BODY = [
  '/v1/ids',
  '/v1/ids/stream',
  '/v1/numbers/order',
  '/v1/sharded-ids',
  '/v1/business-numbers',
  '/v1/layouts/plan',
  '/v1/layouts/advice',
  '/v1/nothing',
];

const head = (path: string, more = ''): string => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const JSON_BODY = 'content-type: application/json\r\n';

describe('Clients that leave', () => {
  let service: OpenService;
  const logged: string[] = [];

  beforeAll(async () => {
    service = await openService();
    const note = (...lines: unknown[]): void => void logged.push(lines.map(String).join(' '));
    Logger.overrideLogger({ log: note, warn: note, error: note });
  });

  afterEach(() => void logged.splice(0));

  afterAll(async () => {
    Logger.overrideLogger(false);
    await service.close();
  });

  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };

  const nobodyIsThere = async (): Promise<void> => {
    const server = service.app.getHttpServer();
    const count = (): Promise<number> => new Promise((settle) => server.getConnections((_, found) => settle(found)));
    await until('all connections to be closed', async () => (await count()) === 0);
  };

  /** The statuses of requests so far. */
  const statuses = async (): Promise<Set<string>> => {
    const text = await (await fetch(`${service.url}/metrics`, { headers: { connection: 'close' } })).text();
    return new Set(Array.from(text.matchAll(/status_code="(\d+)"/g), ([, status]) => status!));
  };

  it.each(
    WITH_BODY.flatMap((path) =>
      ['content-length: 300\r\n', 'transfer-encoding: chunked\r\n'].map((framing) => [path, framing] as const),
    ),
  )('in the midst of a body of %s are no failure of the database, %j', async (path, framing) => {
    for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const client = await open();
      const body = framing.startsWith('content') ? '{"series":' : '5\r\n{"ser\r\n';
      const taken = once(service.app.getHttpServer(), 'request');
      client.write(head(path, JSON_BODY + framing) + body);
      await taken;
      client[leave]();
      client.resume();
      await nobodyIsThere();
    }
    expect(logged).toEqual([]);
  });

  it.each(['', '&format=base58'])('in the midst of a stream are no failure, count=1000000%s', async (query) => {
    for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
      for (const chunks of [0, 1, 20]) {
        const client = await open();
        client.write(head(`/v1/ids/stream?count=1000000${query}`));
        for (let chunk = 0; chunk < chunks; chunk++) await once(client, 'data');
        client[leave]();
        client.destroy();
        await nobodyIsThere();
      }
    }
    expect(logged).toEqual([]);
    expect(await statuses()).not.toContain('500');
  });
});
