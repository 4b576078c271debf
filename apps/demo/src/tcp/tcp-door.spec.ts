import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { RequestRate } from '../connections/request-rate.js';
import { UnreadAnswers } from '../connections/unread-answers.js';
import { TcpDoor } from './tcp-door.js';

/** What is under way, until it is let go. */
class Work {
  readonly signals: AbortSignal[] = [];
  private readonly ends: (() => void)[] = [];

  readonly answer = (gone: AbortSignal): Promise<void> => {
    this.signals.push(gone);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(gone.reason as Error);
      gone.addEventListener('abort', giveUp);
      this.ends.push(() => {
        gone.removeEventListener('abort', giveUp);
        resolve();
      });
    });
  };

  finish(count = this.ends.length): void {
    for (const end of this.ends.splice(0, count)) end();
  }
}

describe('The door of the TCP transport', () => {
  let server: Server;
  let closing: AbortController;
  const clients: Socket[] = [];

  beforeEach(() => {
    server = createServer();
    closing = new AbortController();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const client of clients.splice(0)) client.destroy();
    server.close();
  });

  async function open(rateLimit = 0, unreadMs?: number, firstMessageMs?: number): Promise<TcpDoor> {
    const door = new TcpDoor(closing.signal, new RequestRate(rateLimit), new UnreadAnswers(), {
      unreadMs,
      firstMessageMs,
    });
    door.watch(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return door;
  }

  /** Both ends of a new connection. */
  async function connection(): Promise<{ client: Socket; socket: Socket }> {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    clients.push(client);
    const [socket] = await accepted;
    return { client, socket: socket.on('error', () => undefined) };
  }

  /** The codes of those that are refused at once. */
  async function refusals(door: TcpDoor, socket: Socket, work: Work, messages: number): Promise<unknown[]> {
    const codes: unknown[] = [];
    for (let message = 0; message < messages; message++) {
      door.during(socket, 1, work.answer).catch((error: { told: { errorCode: string } }) => codes.push(error.told));
    }
    await new Promise((resolve) => setImmediate(resolve));
    return codes;
  }

  const tooMany = (what: string): object => ({
    errorCode: 'TOO_MANY_MESSAGES',
    detail: `More than ${what} are under way. Wait for their answers, and try again.`,
    retryable: true,
    retryAfterSeconds: 1,
  });

  it('lets 64 messages of a connection in at a time, and others as soon as one is answered', async () => {
    const door = await open();
    const { socket } = await connection();
    const work = new Work();
    expect(await refusals(door, socket, work, 64)).toEqual([]);
    expect(await refusals(door, socket, work, 2)).toEqual([1, 2].map(() => tooMany('64 messages on one connection')));
    work.finish(1);
    expect(await refusals(door, socket, work, 0)).toEqual([]);
    expect(await refusals(door, socket, work, 2)).toHaveLength(1);
    work.finish();
  });

  it('lets 256 of all connections in at a time', async () => {
    const door = await open();
    const work = new Work();
    for (let each = 0; each < 4; each++) {
      expect(await refusals(door, (await connection()).socket, work, 64)).toEqual([]);
    }
    expect(await refusals(door, (await connection()).socket, work, 1)).toEqual([tooMany('256 messages')]);
    work.finish();
  });

  it('forgets what was under way for a connection that is gone: nobody waits for it', async () => {
    const door = await open();
    const { client, socket } = await connection();
    const work = new Work();
    const answers = Array.from({ length: 64 }, () => door.during(socket, 1, work.answer));
    client.destroy();
    await Promise.all(answers.map((each) => expect(each).rejects.toMatchObject({ status: 408 })));
    expect(work.signals.every(({ aborted }) => aborted)).toBe(true);
    await expect(door.during(socket, 1, work.answer)).rejects.toMatchObject({ status: 408 });
    expect(await refusals(door, (await connection()).socket, work, 64)).toEqual([]);
    work.finish();
  });

  it('counts the messages of an address, over all its connections', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(5_000);
    const door = await open(3);
    const work = new Work();
    expect(await refusals(door, (await connection()).socket, work, 3)).toEqual([]);
    now.mockReturnValue(12_001);
    const told = { errorCode: 'RATE_LIMITED', retryable: true, retryAfterSeconds: 53 };
    expect(await refusals(door, (await connection()).socket, work, 1)).toMatchObject([told]);
    now.mockReturnValue(65_000);
    expect(await refusals(door, (await connection()).socket, work, 3)).toEqual([]);
    work.finish();
  });

  it('cuts off who does not read, and nobody who is only quiet', async () => {
    await open(0, 50);
    const quiet = await connection();
    const { client, socket } = await connection();
    client.pause();
    socket.write(Buffer.alloc(32 * 2 ** 20));
    await once(socket, 'close');
    expect(quiet.socket.destroyed).toBe(false);
  });

  it('cuts off who says nothing at first, and nobody who has asked once', async () => {
    const door = await open(0, undefined, 50);
    const [silent, busy, quiet] = [await connection(), await connection(), await connection()];
    for (const { socket } of [busy, quiet]) door.hear(socket);
    const work = new Work();
    const answer = door.during(busy.socket, 1, work.answer);
    await once(silent.socket, 'close');
    expect([busy, quiet].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    work.finish();
    await answer;
  });

  it('answers what is under way when the service ends, and lets nothing more in', async () => {
    const door = await open();
    const [idle, busy] = [await connection(), await connection()];
    const work = new Work();
    const answer = door.during(busy.socket, 1, work.answer).then(() => void busy.socket.write('the answer'));
    let hasEnded = false;
    closing.abort();
    const ending = door.end().then(() => (hasEnded = true));
    await once(idle.client.resume(), 'end');
    await expect(door.during(busy.socket, 1, work.answer)).rejects.toMatchObject({
      told: { errorCode: 'SHUTTING_DOWN', retryable: true },
    });
    expect(hasEnded).toBe(false);
    work.finish();
    let text = '';
    for await (const chunk of busy.client) text += String(chunk);
    expect(text).toBe('the answer');
    await Promise.all([answer, ending]);
  });
});
