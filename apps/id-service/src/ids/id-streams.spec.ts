import { once } from 'node:events';
import { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { createTestIdService } from '@raindrop/nestjs/testing';
import type { Drain } from '../drain.js';
import { IdStreams } from './id-streams.js';

const REQUEST = { count: 10_000_000, format: 'decimal' } as const;

describe('IdStreams', () => {
  let streams: IdStreams;
  let nowMs: number;

  beforeEach(() => {
    Logger.overrideLogger(false);
    nowMs = 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const { ids } = createTestIdService();
    jest.spyOn(ids, 'fillAsync').mockImplementation((cells) => Promise.resolve(cells));
    streams = new IdStreams(ids, { signal: new AbortController().signal } as Drain);
  });

  afterEach(() => jest.restoreAllMocks());

  /** A stream whose reader has taken its first lines. */
  const open = async (address: string): Promise<{ read(): Promise<unknown>; readonly socket: Socket }> => {
    const socket = new Socket();
    const lines = streams.open(REQUEST, address, socket);
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
    'of %s that nobody reads for 5 s are cut off for others, one for each, the longest unread first',
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
