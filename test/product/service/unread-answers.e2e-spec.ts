import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { until } from '../../support/until.js';
import { openService, type OpenService } from './open-service.js';

/** A code has 262,144 IDs a second: with some more of them no request has to wait. */
const requests = (count: number, codes: string): string =>
  Array.from({ length: count }, (_, index) => {
    return `POST /v1/ids?count=1000&code=${codes}${index % 8} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  }).join('');

/** What the process may hold of unread answers, and some more for what is on its way. */
const HELD_AT_MOST = 160 * 2 ** 20;

describe('Clients that read no answers', () => {
  let service: OpenService;
  const clients: Socket[] = [];
  const logged: string[] = [];

  beforeEach(async () => {
    service = await openService();
    const note = (line: unknown): void => void logged.push(String(line));
    Logger.overrideLogger({ log: note, warn: note, error: note });
  });

  afterEach(async () => {
    Logger.overrideLogger(false);
    logged.length = 0;
    for (const client of clients.splice(0)) client.destroy();
    await service.close();
  });

  const silent = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => undefined);
    clients.push(socket);
    await once(socket, 'connect');
    return socket.pause();
  };

  /** Answers that no client has read. */
  const held = (): number => process.memoryUsage().arrayBuffers;

  const rested = async (): Promise<void> => {
    let before = -1;
    await until('nothing more to be made', async () => {
      const { issued } = service.app.get(IdService).status().counters;
      if (issued === before) return true;
      before = issued;
      await pause(200);
      return false;
    });
  };

  it('do not fill the memory, and the others are served', async () => {
    const before = held();
    for (let each = 0; each < 24; each++) (await silent()).write(requests(600, `c${each}-`));
    await rested();
    expect(held() - before).toBeLessThan(HELD_AT_MOST);
    expect((await fetch(`${service.url}/v1/ids?count=1000`, { method: 'POST' })).status).toBe(201);
    const cut = logged.filter((line) => line.includes('of unread answers'));
    expect(cut[0]).toMatch(/^A connection with \d+ MiB of unread answers was closed\.$/);
    // One in ten seconds, of the dozens that were.
    expect(cut.length).toBeLessThan(20);
  });
});
