import { once } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { createTestIdService } from '@raindrop/nestjs/testing';
import type { Drain } from '../drain.js';
import { IdStreams, StreamPace } from './id-streams.js';

/** The streams of a service whose IDs count up, and how many of them it has issued. */
function streamsOf(closing = new AbortController().signal): { streams: IdStreams; given: () => number } {
  let given = 0;
  const { ids } = createTestIdService();
  jest.spyOn(ids, 'fillAsync').mockImplementation((cells) => {
    for (let index = 0; index < cells.length; index++) cells[index] = BigInt(++given);
    return Promise.resolve(cells);
  });
  return { streams: new IdStreams(ids, { signal: closing } as Drain, { docsUrl: undefined }), given: () => given };
}

const REQUEST = { count: 10_000_000, format: 'decimal' } as const;

describe('IdStreams', () => {
  let streams: IdStreams;
  let nowMs: number;

  beforeEach(() => {
    Logger.overrideLogger(false);
    nowMs = 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    ({ streams } = streamsOf());
  });

  afterEach(() => jest.restoreAllMocks());

  /** A stream whose reader has taken its first lines. */
  const open = async (address: string): Promise<{ read(): Promise<unknown>; readonly socket: Socket }> => {
    const socket = new Socket();
    const lines = streams.lines(REQUEST, address, socket);
    const read = async (): Promise<unknown> => {
      const reading = lines.next();
      nowMs += 1;
      return reading;
    };
    await read();
    return { read, socket };
  };

  const openAll = async (count: number): ReturnType<typeof Promise.all<ReturnType<typeof open>[]>> =>
    Promise.all(Array.from({ length: count }, (_, index) => open(index < 8 ? '192.0.2.1' : '192.0.2.2')));

  it.each([
    ['one address', 8, '192.0.2.1', 'More than 8 streams to one address'],
    ['all together', 16, '192.0.2.3', 'More than 16 streams'],
  ])('are bounded for %s', async (_, most, address, detail) => {
    const all = await openAll(most);
    nowMs += 4_900;
    await expect(open(address)).rejects.toMatchObject({ told: { errorCode: 'TOO_MANY_STREAMS', retryable: true } });
    await expect(open(address)).rejects.toThrow(detail);
    expect(all.filter(({ socket }) => socket.destroyed)).toEqual([]);
  });

  it.each([
    ['one address', 8, '192.0.2.1'],
    ['all together', 16, '192.0.2.3'],
  ])(
    'of %s that stay unread for 5 s are closed for others, one for each, the longest unread first',
    async (_, most, address) => {
      const all = await openAll(most);
      nowMs += 4_900;
      await all[0]!.read();
      nowMs += 200;
      const ended = once(all[1]!.socket, 'close');
      await open(address);
      await ended;
      expect(all.filter(({ socket }) => socket.destroyed)).toEqual([all[1]]);
      // The stream that was cut off gave its own place back, and no other stream's.
      await expect(all[1]!.read()).rejects.toMatchObject({ told: { errorCode: 'CONNECTION_CLOSED' } });
      await open(address);
      expect(all.filter(({ socket }) => socket.destroyed)).toEqual([all[1], all[2]]);
      await expect(all[0]!.read()).resolves.toMatchObject({ done: false });
    },
  );

  it('cut off no stream of others where an address has all of its own', async () => {
    const others = await Promise.all(['192.0.2.2', '192.0.2.3'].map(open));
    nowMs += 5_100;
    await openAll(8);
    await expect(open('192.0.2.1')).rejects.toThrow('More than 8 streams to one address');
    expect(others.filter(({ socket }) => socket.destroyed)).toEqual([]);
  });

  it('are not unread while they wait for IDs', async () => {
    const all = await openAll(8);
    // Each has its turn in the event loop, which does not come here.
    const waiting = all.map(({ read }) => read());
    nowMs += 60_000;
    await expect(open('192.0.2.1')).rejects.toThrow('More than 8 streams to one address');
    await Promise.all(waiting);
  });
});

describe('The lines of a stream', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each([1, 499, 500, 501, 1_234])('are %d where so many are asked for, no more and no less', async (count) => {
    const { streams, given } = streamsOf();
    let text = '';
    const lines = streams.lines({ count, format: 'decimal' }, '192.0.2.1', new Socket());
    for await (const slice of lines) text += slice.toString();
    expect(text).toBe(Array.from({ length: count }, (_, index) => `"${index + 1}"\n`).join(''));
    expect(given()).toBe(count);
  });

  it('are made no more than a slice ahead of their reader, and the event loop turns before each', async () => {
    const { streams, given } = streamsOf();
    const lines = streams.lines(REQUEST, '192.0.2.1', new Socket());
    for (let read = 1; read <= 5; read++) {
      let hasTurned = false;
      setImmediate(() => (hasTurned = true));
      await lines.next();
      expect(hasTurned).toBe(true);
      expect(given()).toBe(500 * read);
    }
    await lines.return(undefined);
    expect(given()).toBe(2_500);
  });

  it.each([
    ['the service ends', 'SHUTTING_DOWN'],
    ['the connection is closed', 'CONNECTION_CLOSED'],
  ])('break off when %s', async (why, errorCode) => {
    const end = new AbortController();
    const socket = new Socket();
    const lines = streamsOf(end.signal).streams.lines(REQUEST, '192.0.2.1', socket);
    await lines.next();
    if (why === 'the service ends') end.abort();
    else await once(socket.destroy(), 'close');
    await expect(lines.next()).rejects.toMatchObject({ told: { errorCode } });
  });
});

describe('The pace of streams', () => {
  it('leaves others their part of a code, however many streams it has', () => {
    let now = 0;
    const pace = new StreamPace(100, () => now);
    const due = Array.from({ length: 8 }, () => pace.take('busy', 500));
    expect(due).toEqual([0, 5, 10, 15, 20, 25, 30, 35]);
    expect(pace.take('another', 500)).toBe(0);
    expect(pace.take(undefined, 500)).toBe(0);
    now = 35;
    expect(pace.take('busy', 500)).toBe(5);
  });

  it('makes up for a late timer, but not for a long rest', () => {
    let now = 0;
    const pace = new StreamPace(100, () => now);
    pace.take('code', 500);
    now = 15;
    expect([1, 2, 3].map(() => pace.take('code', 500))).toEqual([0, 0, 0]);
    expect(pace.take('code', 500)).toBe(5);
    now = 60_000;
    expect([1, 2, 3].map(() => pace.take('code', 500))).toEqual([0, 5, 10]);
  });

  it('lets one slice be made in a turn of the event loop, whatever their codes', async () => {
    const pace = new StreamPace(Infinity);
    let made = 0;
    for (let stream = 0; stream < 8; stream++) void pace.next(`code ${stream}`, 500).then(() => made++);
    const seen: number[] = [];
    while (made < 8) {
      const before = made;
      await turn();
      seen.push(made - before);
    }
    expect(Math.max(...seen)).toBe(1);
  });
});
