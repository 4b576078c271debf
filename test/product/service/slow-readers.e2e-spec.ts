import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { openService, type OpenService } from './open-service.js';

const REQUEST = 'POST /v1/ids?count=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n';
const ANSWER = /\{"ids":\["[^\]]*"\]\}/g;

/** More than the system keeps for a connection whose other end reads nothing. */
const UNREAD = 600;

describe('Answers of the service that wait for slow readers', () => {
  let service: OpenService;
  let port: number;

  beforeAll(async () => {
    service = await openService();
    port = Number(new URL(service.url).port);
  });

  afterAll(async () => {
    await service.close();
  });

  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket.on('error', () => undefined);
  };

  /** The IDs of so many answers. */
  const read = async (socket: Socket, answers: number): Promise<string[]> => {
    let text = '';
    socket.setEncoding('latin1');
    for await (const chunk of socket) {
      text += chunk as string;
      if ((text.match(/\]\}/g) ?? []).length >= answers) break;
    }
    return (text.match(ANSWER) ?? []).flatMap((answer) => (JSON.parse(answer) as { ids: string[] }).ids);
  };

  it('are not written over by those of others, nor shown to them', async () => {
    const [slow, cut] = [await open(), await open()];
    for (const socket of [slow, cut]) socket.pause().write(REQUEST.repeat(UNREAD));
    const between: string[] = [];
    for (let round = 0; round < 30; round++) {
      const quick = await open();
      quick.write(REQUEST.repeat(10));
      between.push(...(await read(quick, 10)));
      if (round === 10) cut.destroy();
    }
    const late = await read(slow, UNREAD);
    expect(late).toHaveLength(UNREAD * 1_000);
    expect(between).toHaveLength(300 * 1_000);
    expect(new Set([...late, ...between]).size).toBe(late.length + between.length);
  });
});
